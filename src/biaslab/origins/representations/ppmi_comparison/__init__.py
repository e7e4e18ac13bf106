"""GloVe's bias beside that by PPMI."""
