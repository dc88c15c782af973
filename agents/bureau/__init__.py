"""What playing, measuring and training need of Bureau alone."""
