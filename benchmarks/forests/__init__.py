"""Random forests against their paper: synthetic data, fits, and the page."""
