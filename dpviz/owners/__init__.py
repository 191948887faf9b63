"""Training without one table of all rows: rows that stay with several owners, and rows that arrive late.

For whoever has rows that may not be put together or are not complete yet. Both train the boosted trees of `s-gbdt`.

- `federated.train_federated(parts, ...)`: several owners train one model, each in a process of its own. Nobody sees another
  owner's rows, and the model is private for every row of every owner. `terms` holds what owners agree on first, `data_owner` one
  owner, `owner_process` the pipe to it, `secure_sum` the sums that show the aggregator only their total.
- `streams.stream_of(train, test, ...)` and `streams.follow(stream, way, ...)`: rows from another distribution arrive after the
  regular rounds, and what can still be learned from them within the same epsilon.
"""
