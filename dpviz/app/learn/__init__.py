"""The Learn page: one file per lesson, and the course that puts them in order."""
