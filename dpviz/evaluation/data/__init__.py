"""The Data page: how the cells of a table are distributed, where anyone may see them."""
