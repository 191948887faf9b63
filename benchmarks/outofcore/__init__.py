"""What a tree on a table larger than memory costs, beside one Arrow pass with bincount."""
