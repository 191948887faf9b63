"""Random trees: how they are drawn, labelled and traced."""
