"""What `fit` returns: models that predict. They hold released values only, never counts."""
