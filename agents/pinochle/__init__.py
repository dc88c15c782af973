"""What playing, learning and measuring need for Pinochle alone."""
