"""Figures and texts of the Audit page."""
