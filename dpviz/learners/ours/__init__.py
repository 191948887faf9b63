"""Learners of this project."""
