"""Figures of the Budget page."""
