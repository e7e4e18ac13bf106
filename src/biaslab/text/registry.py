"""The list of the formats of labelled corpora: one row adds one. Light, as whatever a run is planned with."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Format:
    """A format of labelled corpora.

    Attributes
    ----------
    about : str
        What its files are.
    read : str
        ``"MODULE:FUNCTION"`` in this folder; it takes a file and returns a table as `biaslab.text.corpora`
        describes it, and perhaps `positive`.
    positive : str
        What the key ``positive`` may say of the format; empty where that key says nothing.
    """

    about: str
    read: str
    positive: str = ""


FORMATS = {
    "stormfront": Format("archive", "corpora:read_stormfront", "not-nohate (the default) or hate"),
    "ghc": Format("JSON lines", "corpora:read_ghc"),
    "wikipedia": Format("folder with the talk page labels", "corpora:read_wikipedia_talk"),
    "jigsaw": Format(
        "train.csv or its folder, or test.csv beside test_labels.csv",
        "corpora:read_jigsaw",
        "toxic (the default) or any",
    ),
    "table": Format(
        ".csv, .tsv or .jsonl with columns text, label and perhaps group",
        "labelled:read_labelled",
        "the positive label, null where labels are 0 and 1",
    ),
}
"""The formats by name, in the order of the documentation."""
