"""British (Cornish) Euchre with the Benny: the rules of `docs/euchre.md`, one phase a file."""
