"""What the lessons compute."""
