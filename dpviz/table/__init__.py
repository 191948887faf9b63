"""Tables and what is publicly known about them: raw text, schema, encoded rows, candidate splits. Reads no file."""
