"""Figures of the Plan page."""
