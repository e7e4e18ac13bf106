"""How much each document contributes to a bias: influence functions on GloVe, and exactly by PPMI."""
