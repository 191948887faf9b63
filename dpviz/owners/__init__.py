"""Training without one table of all rows: rows that stay with several owners, and rows that arrive late.

For whoever has rows that may not be put together or are not complete yet. Both train the boosted trees of `s-gbdt`.

- `federated.train_federated(parts, ...)`: several owners train one model, each in a process of its own. Nobody sees another
  owner's rows, and the model is private for every row of every owner. `terms` holds what owners agree on first, `data_owner` one
  owner, `owner_process` the pipe to it, `aggregator` the one who adds up, `secure_sum` the sums that show it only their total.
- `streams.stream_of(train, test, ...)` and `streams.train_on_stream(stream, way, ...)`: rows from another distribution arrive
  after the regular rounds, and what can still be learned from them within the same epsilon.

`several-owners.md` explains both: whom one must trust with what, and what happens when somebody leaves or lies.
"""
