"""Figures of the Data page."""
