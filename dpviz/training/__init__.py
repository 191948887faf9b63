"""What learners are made of: the contract, parameters, histograms, scores, growing."""
