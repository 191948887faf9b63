"""Mechanisms: numbers in, a released value and its event out. Each carries its law and its price together."""
