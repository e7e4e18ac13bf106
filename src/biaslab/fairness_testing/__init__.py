"""Zhang et al. 2021, Automatic Fairness Testing of Neural Classifiers through Adversarial Sampling."""
