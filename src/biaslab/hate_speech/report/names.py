"""What tables and figures call methods, sets of texts and measures, and in which order they show them."""

from collections.abc import Iterable

from biaslab.hate_speech.methods import REGULARIZED, parse_method

BOW, VANILLA = "bow", "vanilla"
"""What other methods change: the bag of words and the encoder."""
TEST, NEWS, HATECHECK, FUZZED, NONFUZZED = "test", "news", "hatecheck", "fuzzed", "nonfuzzed"
"""Sets of texts: the corpus's own test sentences; news sentences, none of which is hate speech; HateCheck's
cases; comments with identity terms swapped at random, and as they were written."""
SETS = {
    TEST: "test",
    NEWS: "news",
    HATECHECK: "HateCheck",
    FUZZED: "comments, terms swapped",
    NONFUZZED: "comments, as written",
}
"""Sets that are no other corpus."""
MEASURES = {
    "precision": "Precision",
    "recall": "Recall",
    "f1": "F1",
    "accuracy": "Accuracy",
    "macro_accuracy": "Accuracy, mean over the identifiers",
}
FUNCTIONALITIES = {
    "derog_neg_emote_h": "Strong negative emotions",
    "derog_neg_attrib_h": "Very negative attributes",
    "derog_dehum_h": "Dehumanisation",
    "derog_impl_h": "Implicit derogation",
    "threat_dir_h": "Direct threat",
    "threat_norm_h": "Threat as normative statement",
    "slur_h": "Slur",
    "slur_homonym_nh": "Homonym of a slur",
    "slur_reclaimed_nh": "Reclaimed slur",
    "profanity_h": "Hate with profanity",
    "profanity_nh": "Profanity without hate",
    "ref_subs_clause_h": "Reference in a later clause",
    "ref_subs_sent_h": "Reference in a later sentence",
    "negate_pos_h": "Negated positive statement",
    "negate_neg_nh": "Negated hateful statement",
    "phrase_question_h": "Phrased as a question",
    "phrase_opinion_h": "Phrased as an opinion",
    "ident_neutral_nh": "Neutral statement with identifier",
    "ident_pos_nh": "Positive statement with identifier",
    "counter_quote_nh": "Denouncement that quotes hate",
    "counter_ref_nh": "Denouncement that refers to hate",
    "target_obj_nh": "Abuse of objects",
    "target_indiv_nh": "Abuse of individuals",
    "target_group_nh": "Abuse of non-protected groups",
    "spell_char_swap_h": "Swapped letters",
    "spell_char_del_h": "Missing letters",
    "spell_space_del_h": "Missing spaces",
    "spell_space_add_h": "Added spaces",
    "spell_leet_h": "Leet spelling",
    "(all hateful)": "All hateful cases",
    "(all non-hateful)": "All other cases",
    "(all)": "All cases",
}
"""What HateCheck (Röttger et al. 2021) tests, in its order."""

EVERY = "(all)"
"""In place of an identifier: the mean over all; in place of a functionality: all cases."""
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
    """Tell whether a method has no quirk: it is what the paper describes, and regularizes all identifiers."""
    return not split_name(method)[1]


def is_fold(method: str) -> bool:
    """Tell whether a method leaves some identifiers unregularized."""
    return any(quirk.startswith("fold") for quirk in split_name(method)[1])


def without_folds(method: str) -> str:
    """Return the method that regularizes all identifiers and is else the same."""
    plain, quirks = split_name(method)
    kept = "+".join(quirk for quirk in quirks if not quirk.startswith("fold"))
    return f"{plain}@{kept}" if kept else plain


def title(method: str) -> str:
    """Return what a table calls a method, quirks left out."""
    parsed = parse_method(split_name(method)[0])
    return KINDS[parsed.kind] + (f" (α = {parsed.alpha:g})" if parsed.kind in REGULARIZED else "")


def quirk_title(method: str) -> str:
    """Return what the quirks of a method do; "none" without."""
    return ", ".join(QUIRKS.get(quirk, quirk) for quirk in split_name(method)[1]) or "none"


def baseline(method: str) -> str:
    """Return the method that this one changes: the same classifier trained without; "" for none."""
    return _BASELINES.get(split_name(method)[0], VANILLA)


def in_order(methods: Iterable[str]) -> list[str]:
    """Return different methods in the order of Table 1: by kind, strength and quirks."""
    return sorted(set(methods), key=_place)


def set_title(name: str) -> str:
    """Return what a table calls a set of texts; another corpus is called by its name."""
    return SETS.get(name, name)


def measure_title(name: str) -> str:
    """Return what a table calls a measure."""
    return MEASURES.get(name, name.replace("_", " "))


def functionality_title(name: str) -> str:
    """Return what a functionality of HateCheck tests; others are called by their name."""
    return FUNCTIONALITIES.get(name, name.replace("_", " "))


def _place(method: str) -> tuple[int, float, tuple[int, ...], str]:
    plain, quirks = split_name(method)
    parsed = parse_method(plain)
    known = list(QUIRKS)
    places = tuple(known.index(quirk) if quirk in known else len(known) for quirk in quirks)
    return list(KINDS).index(parsed.kind), parsed.alpha, places, method
