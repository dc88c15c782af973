"""What playing, learning and measuring need for Euchre alone."""
