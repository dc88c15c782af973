"""Bureau, a patience with two packs: the rules of `docs/bureau.md`, one kind of move a file."""
