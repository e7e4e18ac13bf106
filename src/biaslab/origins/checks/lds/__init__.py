"""The linear datamodeling score: attributions against retraining on random subsets."""
