"""The table as a picture: drawn in plain NumPy, shown in a window by pygame."""
