"""Does the guarantee hold? Exhaustive search on small universes, and attacks."""
