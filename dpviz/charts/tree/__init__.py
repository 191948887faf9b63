"""Drawings of trees, forests and boosted trees."""
