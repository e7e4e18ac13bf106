"""Classifiers of tables: schemas, encodings, domains, networks and how they are trained."""
