"""Counting in the engine that holds the rows: only counts leave it."""
