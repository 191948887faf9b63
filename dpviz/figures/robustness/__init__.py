"""Figures of the Robustness page."""
