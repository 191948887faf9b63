"""Boosted trees against the published ones: fits, several owners, figures, and the page."""
