"""Poisoning guarantees and attacks against the published ones: fits, the run, and the page."""
