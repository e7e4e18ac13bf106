"""Classifiers of tables: schemas, encodings, domains, networks and how they are trained."""

__all__ = [
    "adapters",
    "encoding",
    "models",
    "networks",
    "schema",
    "tensorflow_bundle",
    "training",
]
