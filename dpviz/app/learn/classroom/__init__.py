"""A class: the server with the lessons only, the room whose guesses it counts, and what a teacher needs for an hour."""
