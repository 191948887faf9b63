"""Learners from the literature, private by claim, as published unless their page says otherwise."""
