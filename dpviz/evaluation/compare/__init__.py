"""How accurate are the learners? Sweeps over epsilon and depth, measures, comparisons."""
