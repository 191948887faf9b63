"""What is said about a result: its verdict, for a row and for a person."""
