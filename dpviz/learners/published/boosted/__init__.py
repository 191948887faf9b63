"""Boosted learners from the literature."""
