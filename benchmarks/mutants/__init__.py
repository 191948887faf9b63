"""Mutants: changes that would break privacy, each with the tests that must fail when it is made."""
