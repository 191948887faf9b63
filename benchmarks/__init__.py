"""Measurements of speed, accuracy and robustness: `python -m benchmarks TOPIC`. Not part of the wheel."""
