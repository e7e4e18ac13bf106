"""Classifiers of tables: schemas, encodings, domains, networks and how they are trained."""

__all__ = [
    "adapters",
    "domain",
    "encoding",
    "keras_h5",
    "models",
    "networks",
    "schema",
    "tensorflow_bundle",
    "training",
]
