"""The answer to whether naming a group changes what a classifier of texts says: lines, page and numbers."""

from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.answers import Answer, Section, dots, listed, with_ends
from biaslab.core.tables import MISSING, text_columns
from biaslab.hate_speech.auditing import MAX_EXPLAINED, MAX_SWAPPED, Audited
from biaslab.hate_speech.own_bias import ANY, NEUTRAL_WORDS, NONE

N_TERMS = 30
"""Identifiers that the page shows; the JSON file has them all."""

N_WORDS = 15

_AREAS = {"subgroup_auc": "Subgroup", "bpsn_auc": "BPSN", "bnsp_auc": "BNSP"}
_NO_INTERVAL = f"({MISSING} to {MISSING})"


def answer(found: Audited, model: str, data: Path | None, hatecheck: Path | None, positive: str) -> Answer:
    """Say what an audit found."""
    lines, sections = [], []
    if found.identifiers is not None:
        lines += [*_metric_lines(found, positive), *_term_lines(found)]
        sections += [_rates(found), _areas(found)]
    if found.swaps is not None:
        lines.append(_swap_line(found))
        sections.append(_swaps(found))
    if found.words is not None:
        lines.append(_word_line(found))
        sections.append(_words(found))
    lines.append(_template_line(found))
    sections.append(_templates(found))
    if found.hatecheck is not None:
        lines.append(_hatecheck_line(found.hatecheck))
        sections.append(_hatecheck(found.hatecheck))
    facts = {
        "Classifier": Path(model).name,
        "Positive": positive,
        "Identity terms": f"{len(found.terms)}: {', '.join(found.terms)}",
    }
    if data is not None:
        n = int(found.metrics.set_index("measure").loc["accuracy", "n"])
        facts["Texts"] = f"{data.name}: {n:,}"
    if hatecheck is not None:
        facts["HateCheck"] = f"{hatecheck.name}: {int(found.hatecheck['n'].sum()):,} cases"
    return Answer(
        command="biaslab hate-speech audit",
        question=f"Does naming a group change what {Path(model).name} says?",
        data=facts,
        files=[file for file in (model, data, hatecheck) if file is not None],
        lines=lines,
        sections=sections,
        limits=_limits(found),
        numbers={
            "metrics": found.metrics,
            "identifiers": found.identifiers,
            "swaps": found.swaps,
            "swapped": found.swapped,
            "words": found.words,
            "templates": found.templates,
            "spread": found.spread,
            "hatecheck": found.hatecheck,
        },
    )


def _metric_lines(found: Audited, positive: str) -> list[str]:
    of = found.metrics.set_index("measure")
    rate, accuracy = of.loc["false_positive_rate"], of.loc["accuracy"]
    return [
        f"Of {int(accuracy['n']):,} texts {accuracy['value']:.1%} are answered as labelled"
        f" ({accuracy['ci_low']:.1%} to {accuracy['ci_high']:.1%}); {rate['value']:.1%} of the harmless ones"
        f" are called {positive}, false alarms ({rate['ci_low']:.1%} to {rate['ci_high']:.1%}). AUC"
        f" {of.loc['auc', 'value']:.3f}."
    ]


def _term_lines(found: Audited) -> list[str]:
    table = found.identifiers[~found.identifiers["identifier"].isin([ANY, NONE])]
    plain = found.identifiers.set_index("identifier").loc[NONE]
    if not table["n_negative"].any() or not plain["n_negative"]:
        return ["No harmless text names a group, or all do, so that false alarms cannot be compared."]
    worst = table.loc[table["difference_low"].idxmax()]  # the clearest, not that of the fewest texts
    clear = table[table["difference_low"] > 0]["identifier"]
    said = (
        f"clearly more (each by its 95% interval): {', '.join(clear)}"
        if len(clear)
        else "for none clearly more"
    )
    lines = [
        f"Harmless texts that name {worst['identifier']} are false alarms in"
        f" {worst['false_positive_rate']:.1%} of {worst['n_negative']:,.0f} ({worst['ci_low']:.1%} to"
        f" {worst['ci_high']:.1%}), those that name nobody in {plain['false_positive_rate']:.1%} of"
        f" {plain['n_negative']:,.0f}: a difference of {worst['difference']:+.1%}"
        f" ({worst['difference_low']:+.1%} to {worst['difference_high']:+.1%}), the clearest of all terms;"
        f" {said}."
    ]
    least = table.loc[table["bpsn_auc"].idxmin()] if table["bpsn_auc"].notna().any() else None
    if least is not None:
        interval = ""
        if np.isfinite(least["bpsn_auc_low"]):
            interval = f" ({least['bpsn_auc_low']:.3f} to {least['bpsn_auc_high']:.3f})"
        lines.append(
            f"BPSN AUC is least for {least['identifier']}, {least['bpsn_auc']:.3f}{interval}: so often a"
            " hateful text that does not name it scores higher than a harmless one that does; 0.5 is"
            " guessing."
        )
    return lines


def _swap_line(found: Audited) -> str:
    of = found.swapped
    top = found.swaps.loc[found.swaps["change"].idxmax()]
    return (
        f"Swaps: {of['n_changed']:,} of {of['n']:,} texts that name a group ({of['share']:.1%},"
        f" {of['low']:.1%} to {of['high']:.1%}) get another answer where another group stands in its place;"
        f" {top['term']} raises the probability most, by {top['change']:+.3f} in the mean"
        f" ({top['change_low']:+.3f} to {top['change_high']:+.3f})."
    )


def _word_line(found: Audited) -> str:
    top = _often(found.words).iloc[0]
    line = (
        f"Words: of {found.n_explained:,} false alarms the probability falls most where '{top['word']}' is"
        f" left out, by {top['change']:.3f} in the mean of {top['n']:,}"
    )
    terms = found.words[found.words["is_identifier"]]
    if terms.empty or top["is_identifier"]:
        return f"{line}."
    best = terms.iloc[0]
    return (
        f"{line}; of identity terms, '{best['word']}', by {best['change']:.3f} in the mean of {best['n']:,}."
    )


def _often(words: pd.DataFrame) -> pd.DataFrame:
    """Return the words of several texts, of all where no word is in several."""
    several = words[words["n"] > 1]
    return words if several.empty else several


def _template_line(found: Audited) -> str:
    terms = found.templates[found.templates["is_identifier"]]
    top, alarms = terms.iloc[0], int(terms["n_positive"].sum())
    return (
        f"Neutral sentences: {alarms:,} of {int(terms['n'].sum()):,} with an identifier are false alarms;"
        f" {top['word']} scores highest, {top['mean']:.3f} in the mean, {top['difference']:+.3f}"
        f" ({top['difference_low']:+.3f} to {top['difference_high']:+.3f}) against neutral words; two groups"
        f" differ by {found.spread['gap']:.3f} in the mean."
    )


def _hatecheck_line(table: pd.DataFrame) -> str:
    worst = table.loc[table["rate"].idxmin()]
    kinds = table.groupby("is_hateful")[["passed", "n"]].sum()
    rates = {bool(kind): row["passed"] / row["n"] for kind, row in kinds.iterrows()}
    parts = [
        f"{rates[kind]:.1%} of the {name} cases"
        for kind, name in ((True, "hateful"), (False, "harmless"))
        if kind in rates
    ]
    return (
        f"HateCheck: right in {' and '.join(parts)}; worst in {worst['functionality']}, {worst['rate']:.1%}"
        f" of {worst['n']:,} ({worst['ci_low']:.1%} to {worst['ci_high']:.1%})."
    )


def _shown(found: Audited) -> pd.DataFrame:
    table = found.identifiers
    aside = table["identifier"].isin([ANY, NONE])
    terms = table[~aside & (table["n"] > 0)].sort_values("difference", ascending=False, kind="stable")
    return pd.concat([terms.head(N_TERMS), table[aside]], ignore_index=True)


def _rates(found: Audited) -> Section:
    shown = _shown(found)
    templates = {
        "Identifier": "{identifier}",
        "Texts": "{n:,}",
        "Harmless": "{n_negative:,}",
        "False alarms": "{false_positive_rate:.1%} ({ci_low:.1%} to {ci_high:.1%})",
        "Against texts without any": "{difference:+.1%} ({difference_low:+.1%} to {difference_high:+.1%})",
    }
    return Section(
        "Harmless texts that name a group",
        [
            "How many texts that are labelled harmless are called hateful, by the identifier that they hold."
            " Texts with another identifier may differ in more than that; swaps, below, change the name"
            f" alone. {NONE}: texts without any."
        ],
        dots(
            shown["identifier"],
            {"texts": shown[["false_positive_rate", "ci_low", "ci_high"]].to_numpy()},
            "Share of harmless texts called hateful",
        ),
        listed(shown, "{identifier} {false_positive_rate:.1%}"),
        text_columns(shown, templates).replace(f"{MISSING} {_NO_INTERVAL}", MISSING),
        "Intervals: 95%, Clopper and Pearson's of rates, Newcombe's of differences, each by itself: with"
        " many terms some differences are chance.",
    )


def _areas(found: Audited) -> Section:
    shown = _shown(found)
    shown = shown[~shown["identifier"].eq(NONE)]
    templates = {"Identifier": "{identifier}"} | {
        title: f"{{{name}:.3f}} ({{{name}_low:.3f}} to {{{name}_high:.3f}})" for name, title in _AREAS.items()
    }
    series = {title: with_ends(shown, name) for name, title in _AREAS.items()}
    return Section(
        "Told apart by score",
        [
            "Areas under the ROC curve (Borkan et al. 2019): how often a hateful text scores higher than a"
            " harmless one. Subgroup: both hold the identifier. BPSN: the harmless one alone holds it; low"
            " where the name raises scores. BNSP: the hateful one alone holds it; low where the name lowers"
            " them."
        ],
        dots(shown["identifier"], series, "Area under the ROC curve", 0.5, "guessing"),
        listed(shown, "{identifier} BPSN {bpsn_auc:.3f}"),
        text_columns(shown, templates).replace(f" {_NO_INTERVAL}", "", regex=False),
        "Intervals: 95%, by DeLong et al. 1988.",
    )


def _swaps(found: Audited) -> Section:
    shown = found.swaps.sort_values("change", ascending=False, kind="stable").head(N_TERMS)
    templates = {
        "In place of others": "{term}",
        "Texts": "{n:,}",
        "Change of the probability": "{change:+.3f} ({change_low:+.3f} to {change_high:+.3f})",
        "Becomes hateful": "{n_to_positive:,}",
        "Becomes harmless": "{n_to_negative:,}",
    }
    return Section(
        "The same text with another group",
        [
            "In texts that hold an identifier it is replaced by each other one. All else stays, so that the"
            " answer should stay, unless the sentence is about that group alone."
        ],
        dots(
            shown["term"],
            {"texts": with_ends(shown, "change")},
            "Change of the probability",
            0.0,
        ),
        listed(shown, "{term} {change:+.3f}"),
        text_columns(shown, templates),
        f"Of {found.swapped['n']:,} texts (at most {MAX_SWAPPED}, drawn). Bars: 95% intervals by Student's"
        " t, over texts.",
    )


def _words(found: Audited) -> Section:
    shown = _often(found.words).head(N_WORDS)
    terms = found.words[found.words["is_identifier"] & ~found.words["word"].isin(shown["word"])]
    shown = pd.concat([shown, terms.head(N_TERMS)], ignore_index=True)
    shown = shown.assign(kind=np.where(shown["is_identifier"], "identity term", ""))
    templates = {
        "Word": "{word}",
        "": "{kind}",
        "False alarms": "{n:,}",
        "Fall of the probability": "{change:+.3f} ({change_low:+.3f} to {change_high:+.3f})",
    }
    return Section(
        "What makes false alarms",
        [
            f"Of {found.n_explained:,} harmless texts called hateful (at most {MAX_EXPLAINED}, drawn)"
            " each word is left out by itself: how much does the probability fall (occlusion)? This works for"
            " any classifier. Sampling and occlusion (SOC), which also changes a word's neighbours by a"
            " language model, is not on this page: biaslab hate-speech explain has it, for the folder of an"
            " uncased BERT of two labels with a language model beside."
        ],
        dots(
            shown["word"],
            {"false alarms": with_ends(shown, "change")},
            "Fall of the probability without the word",
            0.0,
        ),
        listed(shown, "{word} {change:+.3f}"),
        text_columns(shown, templates).replace(f" {_NO_INTERVAL}", "", regex=False),
        "Words of two texts or more first, and all identity terms. Bars: 95% intervals by Student's t, over"
        " texts.",
    )


def _templates(found: Audited) -> Section:
    shown = found.templates.head(N_TERMS)
    templates = {
        "Word": "{word}",
        "Mean": "{mean:.3f}",
        "Range": "{low:.3f} to {high:.3f}",
        "Against neutral words": "{difference:+.3f} ({difference_low:+.3f} to {difference_high:+.3f})",
        "False alarms": "{n_positive} of {n}",
    }
    return Section(
        "Neutral sentences",
        [
            "Sentences that say nothing of anybody, with each identifier, and with"
            f" {', '.join(NEUTRAL_WORDS)} beside."
        ],
        dots(
            shown["word"],
            {"sentences": with_ends(shown, "difference")},
            "Probability less that of neutral words",
            0.0,
        ),
        listed(shown, "{word} {mean:.3f}"),
        text_columns(shown, templates),
        "Bars: 95% intervals by Student's t, over sentences.",
    )


def _hatecheck(table: pd.DataFrame) -> Section:
    shown = table.sort_values("rate", kind="stable")
    shown = shown.assign(kind=np.where(shown["is_hateful"], "hateful", "harmless"))
    templates = {
        "Functionality": "{functionality}",
        "Cases": "{n:,}",
        "Are": "{kind}",
        "Right": "{rate:.1%} ({ci_low:.1%} to {ci_high:.1%})",
    }
    return Section(
        "HateCheck",
        [
            "Cases written by people to test one thing each (Röttger et al. 2021); names that end with _nh"
            " are harmless."
        ],
        dots(
            shown["functionality"],
            {"cases": shown[["rate", "ci_low", "ci_high"]].to_numpy()},
            "Share of right answers",
        ),
        listed(shown, "{functionality} {rate:.1%}"),
        text_columns(shown, templates),
        "Intervals: 95%, Clopper and Pearson's.",
    )


def _limits(found: Audited) -> list[str]:
    limits = [
        "Only the identity terms that you name are looked at, as whole words; other names of groups, and"
        " hints, are not.",
        "Labels are taken for true. Annotators may themselves call texts hateful because of a name.",
        "A difference between texts that hold different names may come from what else they say; a swap"
        " changes the name alone, and may make a sentence odd.",
        "Neutral sentences are few and short; what a classifier does with them need not be what it does with"
        " real texts.",
        "Leaving out one word at a time does not see what several words do together.",
        "Intervals take texts for independent draws. One that includes no difference is no proof that there"
        " is none.",
    ]
    if found.identifiers is None:
        limits.insert(0, "No labelled texts were given: nothing is known of how right the answers are.")
    if found.hatecheck is None:
        limits.append("HateCheck was not asked: give its cases with --hatecheck.")
    return limits
