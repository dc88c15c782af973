"""The commands of `evaluate.py`, one a module: each adds its parser, reads its options, does its work and prints it."""
