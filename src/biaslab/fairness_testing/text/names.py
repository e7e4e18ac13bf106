"""What writers and readers of the results on texts call things: files and columns."""

SETTING = ["model", "feature"]
"""What the paper calls a benchmark: a classifier of texts and the sensitive feature that varies."""

PROPOSED = "adf_asc"
"""The strategy whose finds ADF's local phase starts from (Section 5.2, footnote 9)."""
CERTIFIED, CONTROL = "certified", "none"
"""Trainings of retraining.tsv that add no finds of a strategy: certified, and again with nothing added."""
BEFORE, AUGMENTED = "before", "augmented"
"""Methods in unseen.tsv, besides these two: no training, and one with finds of ADF_ASC."""
ENCODER_KIND = "encoder"
"""The kind of a fine-tuned encoder, beside those of recurrent networks."""
OWN, SAME = "own", "same"
"""Where a local phase starts: from the tester's own finds, as in Table VIII, or from those of ADF."""

_SEARCH = ("n_queries", "n_gradients")

COLUMNS = {
    "texts": ("part", "feature", "n_texts", "n_positive", "mean_words", "known_share"),
    "vectors": ("n_words", "dimension"),
    "models": ("model", "repetition", "n_train", "n_test", "accuracy", "majority", "f1", "p_chance", "epoch"),
    "global": (*SETTING, "strategy", "repetition", "n_seeds", "n_raw", "n_found", *_SEARCH),
    "seeds": (*SETTING, "strategy", "repetition", "seed", "found"),
    "local": (
        *SETTING,
        "tester",
        "start",
        "repetition",
        "n_starts",
        "n_texts",
        "n_discriminatory",
        *_SEARCH,
    ),
    "validity": (*SETTING, "repetition", "phase", "tester", "metric", "n_pairs", "mean"),
    "words": (*SETTING, "term", "n_texts", "n_flips", "share", "ci_low", "ci_high"),
    "flips": (*SETTING, "value", "n_texts", "n_flips", "share", "ci_low", "ci_high"),
    "curves": (*SETTING, "tester", "start", "n_queries", "n_texts", "n_discriminatory"),
    "agreement": ("feature", "found_on", "tested_on", "repetition", "n_pairs", "n_hold", "share"),
    "retraining": (
        *SETTING,
        "tester",
        "label_rule",
        "repetition",
        "n_added",
        "n_independent",
        "n_removed",
        "improvement",
        "accuracy_before",
        "accuracy_after",
        "f1_before",
        "f1_after",
    ),
    "pools": (*SETTING, "tester", "n_found"),
    "unseen": (*SETTING, "texts", "method", "repetition", "n_texts", "n_discriminatory"),
    "invariants": (
        *SETTING,
        "tester",
        "phase",
        "repetition",
        "n_pairs",
        "only_values_differ",
        "from_neighbours",
        "labels_confirmed",
        "l0_recounted",
        "n_duplicates",
    ),
}
"""The files of a corpus that tables, figures and claims are made of, with their columns."""

EXAMPLE = "example.json"
"""Sentences before and after the search: a list of objects with `EXAMPLE_KEYS`."""
EXAMPLE_KEYS = ("corpus", "model", "feature", "sentence", "global", "partner", "local", "labels")
