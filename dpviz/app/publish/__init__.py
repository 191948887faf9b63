"""The Publish page: checks, releases, history, exports."""
