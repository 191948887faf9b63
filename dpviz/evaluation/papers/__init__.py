"""The Papers page: what three papers print, beside what was measured here."""
