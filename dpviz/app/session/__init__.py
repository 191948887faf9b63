"""The session as a file: it holds something of every page, so this folder may import from the others."""
