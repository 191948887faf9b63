"""Rows wherever they are: read in batches, encoded by the encoder of memory, counted by the counter of memory."""
