"""The lessons of the Learn page: what they are made of, and the six; `main.py` is the script of a server for lessons alone."""
