"""Slow, obvious twins of fast code: what is tested is compared with what anybody can check by reading."""
