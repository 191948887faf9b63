"""The lessons of the page Learn: one file each, the desk they are laid out on, and the course that binds them."""
