"""What playing, learning and measuring need for Bourré alone."""
