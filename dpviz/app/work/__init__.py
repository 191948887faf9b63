"""Background work: the only place where the dashboard runs, polls and cancels it."""
