"""The printed report, figures about releases, and the list of all exports."""
