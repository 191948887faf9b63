"""What can poisoned rows do? Proved bounds, certificates, attacks."""
