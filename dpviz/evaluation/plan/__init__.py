"""Working backwards from a goal: search and simulation."""
