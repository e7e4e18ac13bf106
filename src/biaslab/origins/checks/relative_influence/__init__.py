"""Influence relative to the change of the model."""
