"""What writers and readers of the area's results call things: modes, files and columns."""

PUBLISHED, PAPER = MODES = ("published", "paper")
"""A tester as the authors' code does it, and as the paper prints it."""
INFERRED = "inferred"
"""A further mode of AEQUITAS, as the paper's Table IV suggests it."""

FULL, SHARED, OWN = ("full", "shared", "own")
"""How far local phases go that are compared: as far as is configured, or from a costly tester's seeds with
the share of its samples that each of these has."""

TABULAR, TEXT, NEURAL = "tabular", "text", "neural"
"""Marks of units: a classifier of tables; a corpus of texts; one for which torch is there."""
TEXT_PREFIX = "text-"
"""What the names of units begin with that are corpora."""

SETTING = ["classifier", "protected"]
"""What the paper calls a benchmark: a classifier and the protected attribute that varies."""

COLUMNS = {
    "classifiers": (
        "classifier",
        "n_rows",
        "n_attributes",
        "n_outside",
        "positives",
        "n_layers",
        "accuracy",
        "trained",
        "data",
        "weights",
    ),
    "counts": (
        *SETTING,
        "tester",
        "mode",
        "repetition",
        "n_seeds",
        "global_discriminatory",
        "n_samples",
        "n_discriminatory",
        "n_queries",
        "n_outside",
    ),
    "local": (
        *SETTING,
        "tester",
        "mode",
        "repetition",
        "budget",
        "n_seeds",
        "hops",
        "mean_samples",
        "mean_discriminatory",
    ),
    "curves": (*SETTING, "tester", "mode", "start", "n_seeds", "n_samples", "n_discriminatory", "n_queries"),
    "ablation": (
        *SETTING,
        "tester",
        "switch",
        "repetition",
        "global_discriminatory",
        "n_samples",
        "n_discriminatory",
    ),
    "fairness": (*SETTING, "n_uniform", "share", "ci_low", "ci_high", "data_share", "seed_share"),
    "steps": (
        *SETTING,
        "seed",
        "attribute",
        "start",
        "partner",
        "direction",
        "moved",
        "start_found",
        "moved_found",
        "probability",
        "lower_found",
        "upper_found",
    ),
    "retraining": (
        *SETTING,
        "tester",
        "label_rule",
        "repetition",
        "n_added",
        "accuracy_before",
        "accuracy_after",
        "share_before",
        "share_after",
        "data_share_before",
        "data_share_after",
    ),
    "budgets": (
        *SETTING,
        "n_values",
        "tester",
        "mode",
        "repetition",
        "budget",
        "n_seeds",
        "n_queries",
        "n_samples",
        "n_discriminatory",
    ),
    "suites": (
        *SETTING,
        "tester",
        "mode",
        "repetition",
        "n_suite",
        "n_described",
        "nearest",
        "dense",
        "inside",
        "spread",
        "cells",
    ),
}
"""The files of a classifier that tables, figures and claims are made of, with their columns."""
