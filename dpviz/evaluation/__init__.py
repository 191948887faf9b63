"""Questions about learners: what happens again and again, at other settings, or to other rows. Reads no file."""
