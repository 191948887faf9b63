"""The Data page: choosing a table, declaring its schema, saving a session.

Its picture, bars of one column: which values are there, how often, and how many cells are missing?
"""
