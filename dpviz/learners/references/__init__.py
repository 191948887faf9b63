"""References without privacy. Their epsilon is infinite."""
