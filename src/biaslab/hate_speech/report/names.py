"""Define the titles of methods, sets of texts and measures in tables and figures, and their order."""

from collections.abc import Iterable

from biaslab.hate_speech.methods import BOW, REGULARIZED, VANILLA, parse_method

TEST, NEWS, HATECHECK = "test", "news", "hatecheck"
"""Sets of texts: the corpus's own test sentences, news sentences without hate speech, HateCheck's cases."""
SETS = {
    TEST: "test",
    NEWS: "news",
    HATECHECK: "HateCheck",
    "fuzzed": "comments, terms swapped",
    "nonfuzzed": "comments, as written",
}
"""Titles of the sets other than test sets of corpora; only archived runs have the last two."""
MEASURES = {
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
    "accuracy": "Accuracy",
    "macro_accuracy": "Accuracy, mean over the identifiers",
}
KINDS = {
    BOW: "BoW",
    VANILLA: "Encoder",
    "bow-wr": "BoW + WR",
    "wr": "Encoder + WR",
    "oc": "Encoder + OC",
    "soc": "Encoder + SOC",
    "ear": "Encoder + EAR",
}
"""Titles of method families in the order of Table 1; the last is not in the paper."""
QUIRKS = {
    "dropout": "fresh dropout in each pass",
    "independent": "sides sampled independently",
    "pad": "sampled specials become [PAD]",
    "sum": "regularizer summed over the batch",
    "published": "all as published",
}
"""Titles of the quirks of the published code; a method's name joins several quirks by ``+``."""

_BASELINES = {BOW: "", VANILLA: "", "bow-wr": BOW}


def split_name(method: str) -> tuple[str, tuple[str, ...]]:
    """Return the method without its quirks, and the quirks."""
    plain, _, quirks = method.partition("@")
    return plain, tuple(quirks.split("+")) if quirks else ()


def is_plain(method: str) -> bool:
    """Return whether a method has no quirk, as the paper describes it."""
    return not split_name(method)[1]


def title(method: str) -> str:
    """Return the title of a method in a table, without its quirks."""
    parsed = parse_method(split_name(method)[0])
    return KINDS[parsed.kind] + (f" (α = {parsed.alpha:g})" if parsed.kind in REGULARIZED else "")


def quirk_title(method: str) -> str:
    """Return the titles of a method's quirks, or "none"."""
    return ", ".join(QUIRKS[quirk] for quirk in split_name(method)[1]) or "none"


def baseline(method: str) -> str:
    """Return the baseline of a method: the same classifier without its change; "" if there is none."""
    return _BASELINES.get(split_name(method)[0], VANILLA)


def in_order(methods: Iterable[str]) -> list[str]:
    """Return the distinct methods in the order of Table 1: by family, strength and quirks."""
    return sorted(set(methods), key=_place)


def _place(method: str) -> tuple[int, float, tuple[int, ...], str]:
    plain, quirks = split_name(method)
    parsed = parse_method(plain)
    places = tuple(map(list(QUIRKS).index, quirks))
    return list(KINDS).index(parsed.kind), parsed.alpha, places, method
