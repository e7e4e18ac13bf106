"""List the formats of labelled corpora; add a row for a new format. Planning a run imports this module."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Format:
    """A format of labelled corpora.

    Attributes
    ----------
    about : str
        Type of its files.
    read : str
        ``"MODULE:FUNCTION"`` in this folder. The function takes a file, and optionally `positive`, and
        returns a table as described in `biaslab.text.corpora`.
    positive : str
        Valid values of the key ``positive``; empty if the format does not use the key.
    """

    about: str
    read: str
    positive: str = ""


FORMATS = {
    "stormfront": Format("archive", "corpora:read_stormfront", "not-nohate (the default) or hate"),
    "ghc": Format("JSON lines", "corpora:read_ghc"),
    "wikipedia": Format("folder with the talk page labels", "corpora:read_wikipedia_talk"),
    "jigsaw": Format(
        "train.csv or its folder, or test.csv next to test_labels.csv",
        "corpora:read_jigsaw",
        "toxic (the default) or any",
    ),
    "table": Format(
        ".csv, .tsv or .jsonl with columns text, label and perhaps group",
        "labelled:read_labelled",
        "the positive label, null if labels are 0 and 1",
    ),
}
"""The formats by name, in the order of the documentation."""
