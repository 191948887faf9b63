"""Rows that coins keep away from growing: counts and probabilities of leaves, and a private test result."""
