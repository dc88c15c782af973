"""Partnership auction Pinochle with a single pack: the rules are numbered in `docs/pinochle.md`."""
