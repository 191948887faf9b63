"""Where should the budget go? Shares, the budget lab, rounds of boosting."""
