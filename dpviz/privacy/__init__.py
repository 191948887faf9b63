"""Mechanisms: numbers in, a released value and its event out. Each holds its distribution and its cost together."""
