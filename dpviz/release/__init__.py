"""Releases: the register of what was spent for good, the one way to make a released file, and what it takes as public."""
