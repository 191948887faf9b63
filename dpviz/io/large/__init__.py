"""Tables larger than memory: read in pieces, encoded once into files, counted from there."""
