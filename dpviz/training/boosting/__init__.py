"""Boosting with Gaussian noise: rounds, losses, trees."""
