"""One module per command; each owns its options and what it does, none knows the others."""
