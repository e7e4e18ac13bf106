"""Whether sets chosen by GloVe change other representations."""
