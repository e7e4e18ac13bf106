"""Show the contributions of documents to a bias, in the terminal and on pages."""
