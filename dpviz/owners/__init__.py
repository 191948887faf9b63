"""Training with rows that stay with several owners, and with rows that arrive late."""
