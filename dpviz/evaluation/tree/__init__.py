"""Questions about one tree: which of its splits come back when the noise is drawn again."""
