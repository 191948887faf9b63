"""Mechanisms: numbers in, a released value and its event out. Each carries its distribution and its price together."""
