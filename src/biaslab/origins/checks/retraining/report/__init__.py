"""Tables and figures of the predictions against retraining."""
