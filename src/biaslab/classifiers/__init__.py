"""Classifiers of tables: schemas, encodings, domains, networks and their training."""

__all__ = ["adapters", "encoding", "models", "networks", "schema", "tensorflow_bundle", "training"]
