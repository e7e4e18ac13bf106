"""Target words on the bias axis."""
