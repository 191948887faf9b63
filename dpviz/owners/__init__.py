"""Training without one table of all rows: rows of several owners, and rows that arrive late. Both train boosted trees.

- `federated.train_federated(parts, ...)`: Algorithm 9 of the S-GBDT paper, in one process: every owner releases a tree's leaves
  from its own rows, and the model holds their means.
- `streams.stream_of(train, test, ...)` and `streams.train_on_stream(stream, way, ...)`: rows from another distribution arrive
  after the regular rounds, and what can still be learned from them within the same epsilon.

`docs/how-to/several-owners.md` explains both.
"""
