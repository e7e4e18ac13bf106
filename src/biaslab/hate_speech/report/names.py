"""What tables and figures call methods, sets of texts and measures, and in which order they show them."""

from collections.abc import Iterable

from biaslab.hate_speech.methods import BOW, REGULARIZED, VANILLA, parse_method

TEST, NEWS, HATECHECK = "test", "news", "hatecheck"
"""Sets of texts: the corpus's own test sentences; news sentences, none of which is hate speech; HateCheck's
cases."""
SETS = {
    TEST: "test",
    NEWS: "news",
    HATECHECK: "HateCheck",
    "fuzzed": "comments, terms swapped",
    "nonfuzzed": "comments, as written",
}
"""Sets that are no other corpus; archived runs have the last two."""
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
"""Kinds of methods in the order of Table 1, and after them the one that the paper does not have."""
QUIRKS = {
    "dropout": "fresh dropout in each pass",
    "independent": "sides sampled independently",
    "pad": "sampled specials become [PAD]",
    "sum": "regularizer summed over the batch",
    "published": "all as published",
}
"""What each quirk of the published code does; several are joined by ``+`` in the name of a method."""

_BASELINES = {BOW: "", VANILLA: "", "bow-wr": BOW}


def split_name(method: str) -> tuple[str, tuple[str, ...]]:
    """Return the method without its quirks, and these."""
    plain, _, quirks = method.partition("@")
    return plain, tuple(quirks.split("+")) if quirks else ()


def is_plain(method: str) -> bool:
    """Tell whether a method has no quirk: it is what the paper describes."""
    return not split_name(method)[1]


def title(method: str) -> str:
    """Return what a table calls a method, quirks left out."""
    parsed = parse_method(split_name(method)[0])
    return KINDS[parsed.kind] + (f" (α = {parsed.alpha:g})" if parsed.kind in REGULARIZED else "")


def quirk_title(method: str) -> str:
    """Return what the quirks of a method do; "none" without."""
    return ", ".join(QUIRKS[quirk] for quirk in split_name(method)[1]) or "none"


def baseline(method: str) -> str:
    """Return the method that this one changes: the same classifier trained without; "" for none."""
    return _BASELINES.get(split_name(method)[0], VANILLA)


def in_order(methods: Iterable[str]) -> list[str]:
    """Return different methods in the order of Table 1: by kind, strength and quirks."""
    return sorted(set(methods), key=_place)


def _place(method: str) -> tuple[int, float, tuple[int, ...], str]:
    plain, quirks = split_name(method)
    parsed = parse_method(plain)
    places = tuple(map(list(QUIRKS).index, quirks))
    return list(KINDS).index(parsed.kind), parsed.alpha, places, method
