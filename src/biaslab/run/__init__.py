"""The workflow's runtime: areas as plug-ins, configuration, datasets, provenance, reports."""
