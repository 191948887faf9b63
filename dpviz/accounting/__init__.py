"""What was done (events), what may be spent (plan), what composition proves (guarantee). Deterministic; touches no data."""
