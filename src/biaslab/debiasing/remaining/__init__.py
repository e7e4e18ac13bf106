"""What is left of a bias after debiasing (Gonen and Goldberg 2019), a module for each measure."""
