"""The Data page: choosing a table, declaring its schema, saving a session."""
