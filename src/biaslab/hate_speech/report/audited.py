"""Report whether naming a group changes the output of a text classifier: lines, page and numbers."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.answers import Answer, Chart, Section, build_section, estimate
from biaslab.core.simultaneous import MIN_MEMBERS
from biaslab.core.stats import SIGNIFICANT, share_interval
from biaslab.core.tables import MISSING, text_columns
from biaslab.hate_speech.auditing import (
    ANY,
    MAX_EXPLAINED,
    MAX_SWAPPED,
    NEUTRAL_WORDS,
    NONE,
    Audited,
    macro_accuracy,
)
from biaslab.text.variants import MAX_WORDS

N_TERMS = 30  # maximum number of identifiers on the page; the JSON file has all of them

N_WORDS = 15
N_FEW = 8  # maximum number of terms with too few texts that a line names

_ROUNDING = 1e-9
_MEASURES = {
    "accuracy": "Accuracy",
    "precision": "Precision",
    "recall": "Recall",
    "false_positive_rate": "False positive rate",
    "f1": "F1",
    "auc": "Area under the ROC curve",
}
_AREAS = {"Subgroup": "subgroup_auc", "BPSN": "bpsn_auc", "BNSP": "bnsp_auc"}
_FALSE_ALARMS = "{false_positive_rate:.1%} ({ci_low:.1%} to {ci_high:.1%})"
_NUMBERS = ["metrics", "identifiers", "swaps", "swapped", "words", "templates", "spread", "hatecheck", "news"]
"""Parts of an audit in the JSON file."""


def answer(
    audited: Audited,
    model: str,
    data: Path | None,
    hatecheck: Path | None,
    positive: str,
    notes: Sequence[str] = (),
    news: Path | None = None,
) -> Answer:
    """Return the report of an audit; `notes`, on the model and the texts, follow the accuracy."""
    lines, sections = [_accuracy_line(audited), *notes], []
    if audited.identifiers is not None:
        line, metrics = _metrics(audited, positive)
        lines += [line, *_term_lines(audited)]
        sections += [metrics, _rates(audited), _areas(audited)]
    topics = {"swaps": _swaps, "words": _words, "templates": _templates}
    topics |= {"hatecheck": _hatecheck, "news": _news}
    for name, report in topics.items():
        if getattr(audited, name) is not None:
            line, section = report(audited)
            lines.append(line)
            sections.append(section)
    facts = {
        "Classifier": Path(model).name,
        "Positive": positive,
        "Identity terms": f"{len(audited.terms)}: {', '.join(audited.terms)}",
    }
    if data is not None:
        n = int(audited.metrics.set_index("measure").loc["accuracy", "n"])
        facts["Texts"] = f"{data.name}: {n:,}"
    if hatecheck is not None:
        facts["HateCheck"] = f"{hatecheck.name}: {int(audited.hatecheck['n'].sum()):,} cases"
    if news is not None:
        facts["Texts without hate"] = f"{news.name}: {_n_news(audited.news):,}"
    return Answer(
        command="biaslab hate-speech audit",
        question=f"Does naming a group change the answers of {Path(model).name}?",
        data=facts,
        files=[file for file in (model, data, hatecheck, news) if file is not None],
        lines=lines,
        sections=sections,
        limits=_limits(audited),
        numbers={"notes": list(notes)} | {name: getattr(audited, name) for name in _NUMBERS},
    )


def _accuracy_line(audit: Audited) -> str:
    if audit.metrics is not None:
        measures = audit.metrics.set_index("measure")
        row, n_positive = measures.loc["accuracy"], int(measures.loc["recall", "n"])
        hits, n, unit = int(row["hits"]), int(row["n"]), "texts"
    elif audit.hatecheck is not None:
        table = audit.hatecheck
        hits, n, unit = int(table["passed"].sum()), int(table["n"].sum()), "HateCheck cases"
        n_positive = int(table.loc[table["is_hateful"], "n"].sum())
    else:
        return "No labelled texts are given: the accuracy of the classifier is unknown."
    low, high = share_interval(hits, n)
    majority = max(n_positive, n - n_positive) / n
    doubt = (
        " The accuracy is not higher. Check --positive and the notes below." if hits / n <= majority else ""
    )
    return (
        f"Accuracy: {hits / n:.1%} of {n:,} {unit} ({low:.1%} to {high:.1%}). The more frequent label has"
        f" {majority:.1%}.{doubt}"
    )


def _term_lines(audit: Audited) -> list[str]:
    all_terms = audit.identifiers[~audit.identifiers["identifier"].isin([ANY, NONE])]
    plain = audit.identifiers.set_index("identifier").loc[NONE]
    if not all_terms["n_negative"].any() or not plain["n_negative"]:
        return [
            "False alarms cannot be compared: none of the harmless texts names a group, or all of them do."
        ]
    terms = all_terms[all_terms["n_negative"] > 0]
    worst = terms.loc[terms["difference_low"].idxmax()]  # by lower bound, so that few texts do not win
    clear = terms[_differs(terms)]
    parts = [
        f"significantly {word} frequent for {', '.join(part['identifier'])}"
        for word, part in (("more", clear[clear["difference"] > 0]), ("less", clear[clear["difference"] < 0]))
        if len(part)
    ]
    lines = [
        f"False alarms by group: {worst['false_positive_rate']:.1%} of {worst['n_negative']:,.0f} harmless"
        f" texts that name {worst['identifier']} ({worst['ci_low']:.1%} to {worst['ci_high']:.1%}), and"
        f" {plain['false_positive_rate']:.1%} of {plain['n_negative']:,.0f} harmless texts without any"
        f" identifier. The difference is {worst['difference']:+.1%} ({worst['difference_low']:+.1%} to"
        f" {worst['difference_high']:+.1%}), the clearest of all terms."
        f" {'False alarms are ' + ' and '.join(parts) if parts else 'No term differs significantly'}."
    ]
    powered = terms[terms["least_difference"].notna()]
    unclear = powered[~powered["identifier"].isin(clear["identifier"])]
    if len(unclear):
        low, high = (
            unclear.loc[index]
            for index in (unclear["least_difference"].idxmin(), unclear["least_difference"].idxmax())
        )
        span = (
            f"{low['least_difference']:+.1%} ({low['identifier']}, {low['n_negative']:,.0f} harmless texts)"
        )
        if low["identifier"] != high["identifier"]:
            span += f" to {high['least_difference']:+.1%} ({high['identifier']}, {high['n_negative']:,.0f})"
        lines.append(f"Least detectable difference for the other terms (power .80): {span}.")
    few = all_terms[~all_terms["identifier"].isin(powered["identifier"])]
    if len(few):
        listed_few = ", ".join(
            f"{row.identifier} ({row.n_negative:,.0f} harmless of {row.n:,.0f})"
            for row in few.head(N_FEW).itertuples()
        )
        more = f", and {len(few) - N_FEW:,} more" if len(few) > N_FEW else ""
        lines.append(f"Too few texts for a test: {listed_few}{more}.")
    with_area = terms[terms["bpsn_auc"].notna()]
    if len(with_area):
        lines.append(_area_line(with_area))
    return lines


def _differs(table: pd.DataFrame) -> pd.Series:
    """Return which rows differ: the p-value (adjusted for all rows) is small and the interval excludes 0."""
    is_apart = (table["difference_low"] > 0) | (table["difference_high"] < 0)
    return (table["p_value"] <= SIGNIFICANT) & is_apart & (table["n_negative"] >= MIN_MEMBERS)


def _area_line(table: pd.DataFrame) -> str:
    least, interval = table.loc[table["bpsn_auc"].idxmin()], ""
    if np.isfinite(least["bpsn_auc_low"]):
        interval = f" ({least['bpsn_auc_low']:.3f} to {least['bpsn_auc_high']:.3f})"
    is_clear = least["bpsn_p_value"] <= SIGNIFICANT
    least_gap = "" if is_clear else f"; {_least_effect(least['bpsn_least'])}"
    return (
        f"The lowest BPSN AUC is {least['bpsn_auc']:.3f}{interval}, for {least['identifier']}: with this"
        " probability, a hateful text without the term scores higher than a harmless text with it (0.5:"
        " guessing). The scores of harmless texts with the term"
        f" {'differ' if is_clear else 'do not differ'} significantly from those of harmless texts without any"
        f" identifier (p = {least['bpsn_p_value']:.3f}, adjusted for all terms{least_gap})."
    )


def _least_effect(value: float) -> str:
    return (
        f"least detectable change (power .80): {value:.3f}"
        if np.isfinite(value)
        else "too few to detect a change"
    )


def _shown_terms(audit: Audited) -> pd.DataFrame:
    table = audit.identifiers
    is_pooled = table["identifier"].isin([ANY, NONE])
    terms = table[~is_pooled].sort_values("difference", ascending=False, kind="stable")
    return pd.concat([terms.head(N_TERMS), table[is_pooled]], ignore_index=True)


def _metrics(audit: Audited, positive: str) -> tuple[str, Section]:
    measures = audit.metrics.set_index("measure")
    rate = measures.loc["false_positive_rate"]
    line = (
        f"False alarms: {rate['value']:.1%} of the {int(rate['n']):,} harmless texts are called {positive}"
        f" ({rate['ci_low']:.1%} to {rate['ci_high']:.1%}). AUC {measures.loc['auc', 'value']:.3f}."
    )
    if audit.is_reversed:
        line += " Harmless texts score higher than others: the classes may be swapped; check --positive."
    templates = {
        "Measure": "{name}",
        "Value": "{value:.3f}",
        "95% interval": "{ci_low:.3f} to {ci_high:.3f}",
        "Texts": "{hits:,} of {n:,}",
    }
    cells = text_columns(audit.metrics.assign(name=audit.metrics["measure"].map(_MEASURES)), templates)
    return line, Section(
        "Accuracy of the classifier",
        table=cells.replace([f"{MISSING} to {MISSING}", f"{MISSING} of {MISSING}"], MISSING),
        note="Intervals: Clopper-Pearson; the interval of precision is for the texts called hateful.",
    )


def _rates(audit: Audited) -> Section:
    rows = _shown_terms(audit)
    is_few = rows["least_difference"].isna() & ~rows["identifier"].isin([ANY, NONE])
    least = text_columns(rows, {"least": "{least_difference:+.1%}"})["least"].mask(is_few, "too few texts")
    return build_section(
        "Harmless texts that name a group",
        "Share of the texts labelled harmless that are called hateful, by the identifier in the text."
        " Texts with another identifier may differ in more than the identifier. The swaps below change"
        f" only the name. {NONE}: texts without any identifier.",
        rows.assign(least=least),
        {
            "Identifier": "{identifier}",
            "Texts": "{n:,}",
            "Harmless": "{n_negative:,}",
            "False alarms": _FALSE_ALARMS,
            "Compared with other texts": estimate("difference", "+.1%"),
            "p": "{p_value:.3f}",
            "Least detectable difference": "{least}",
        },
        "Intervals: Clopper-Pearson for rates, Newcombe for differences, simultaneous 95% over all terms"
        " (Bonferroni). p: of no difference, by permutations of the harmless texts, adjusted for all terms"
        " (maxT). A difference is significant if p is at most 0.05 and its interval excludes 0. Least"
        " detectable difference: the smallest difference that the test finds in so many texts with power .80."
        f" The table has at most {N_TERMS} terms; the JSON file has all.",
        Chart(
            "identifier",
            {"texts": rows[["false_positive_rate", "ci_low", "ci_high"]].to_numpy()},
            "Share of harmless texts called hateful",
            "{identifier} {false_positive_rate:.1%}",
        ),
    )


def _areas(audit: Audited) -> Section:
    rows = _shown_terms(audit)
    return build_section(
        "Separation by score",
        "Areas under the ROC curve (Borkan et al. 2019): how often a hateful text scores higher than a"
        " harmless one. Subgroup: both have the identifier. BPSN: only the harmless text has it; low if"
        " the name raises scores. BNSP: only the hateful text has it; low if the name lowers scores.",
        rows[~rows["identifier"].eq(NONE)],
        {"Identifier": "{identifier}"} | {title: estimate(name, ".3f") for title, name in _AREAS.items()},
        "Intervals: DeLong et al. 1988, simultaneous 95% over all terms (Bonferroni).",
        Chart(
            "identifier",
            _AREAS,
            "Area under the ROC curve",
            "{identifier} BPSN {bpsn_auc:.3f}",
            line=0.5,
            line_label="guessing",
        ),
    )


def _swaps(audit: Audited) -> tuple[str, Section]:
    stats = audit.swapped
    changes = audit.swaps[audit.swaps["change"].notna()]
    top = changes.loc[changes["change"].abs().idxmax()]
    change = f"{top['change']:+.3f} on average ({top['change_low']:+.3f} to {top['change_high']:+.3f})"
    if top["change_low"] > 0 or top["change_high"] < 0:
        verb = "raises" if top["change"] > 0 else "lowers"
        conclusion = f"{top['term']} {verb} the probability most, by {change}"
    elif changes["change"].abs().max() < _ROUNDING:
        conclusion = "No term changes the mean probability"
    else:
        conclusion = (
            "No term changes the probability significantly. The largest change is that of"
            f" {top['term']}, {change}; {_least_effect(top['least'])}"
        )
    line = (
        f"Swaps: {stats['n_changed']:,} of {stats['n']:,} texts that name a group ({stats['share']:.1%},"
        f" {stats['low']:.1%} to {stats['high']:.1%}) get another answer if another group replaces it."
        f" {conclusion}."
    )
    return line, build_section(
        "The same text with another group",
        "Each identifier in a text is replaced by every other identifier. The rest of the text stays, so"
        " the answer should not change, unless the sentence applies to one group only.",
        audit.swaps.sort_values("change", ascending=False, kind="stable").head(N_TERMS),
        {
            "In place of others": "{term}",
            "Texts": "{n:,}",
            "Change of the probability": estimate("change", "+.3f"),
            "Becomes hateful": "{n_to_positive:,}",
            "Becomes harmless": "{n_to_negative:,}",
        },
        f"Of {stats['n']:,} texts (at most {MAX_SWAPPED}, drawn at random). A term has the case of"
        " the term that it replaces. Bars: simultaneous 95% intervals by Student's t over texts.",
        Chart("term", {"texts": "change"}, "Change of the probability", "{term} {change:+.3f}", line=0.0),
    )


def _words(audit: Audited) -> tuple[str, Section]:
    several, is_term = audit.words[audit.words["n"] > 1], audit.words["is_identifier"]
    frequent = audit.words if several.empty else several
    top = frequent.iloc[0]
    line = (
        f"Words: in {audit.n_explained:,} false alarms, the probability falls most without '{top['word']}',"
        f" by {top['change']:.3f} on average over {top['n']:,}"
    )
    if np.isfinite(top["change_low"]):
        line += f" ({top['change_low']:+.3f} to {top['change_high']:+.3f})"
    if not top["change_low"] > 0:
        line += f", not significantly ({_least_effect(top['least'])})"
    if is_term.any() and not top["is_identifier"]:
        best = audit.words[is_term].iloc[0]
        line += (
            f"; of identity terms, '{best['word']}', by {best['change']:.3f} on average over {best['n']:,}"
        )
    if audit.n_shortened:
        line += (
            f"; in {audit.n_shortened:,} of these texts, which are longer than {MAX_WORDS} words, only the"
            f" first {MAX_WORDS} words and the identity terms are left out"
        )
    rows = frequent.head(N_WORDS)
    terms = audit.words[is_term & ~audit.words["word"].isin(rows["word"])]
    rows = pd.concat([rows, terms.head(N_TERMS)], ignore_index=True)
    return f"{line}.", build_section(
        "What makes false alarms",
        f"How much the probability falls if a word is left out (occlusion), in {audit.n_explained:,}"
        f" harmless texts called hateful (at most {MAX_EXPLAINED}, drawn at random). This works for any"
        " classifier. For sampling and occlusion (SOC), which also samples a word's neighbours from a"
        " language model, use biaslab hate-speech explain with the folder of an uncased BERT of two"
        " labels that contains a language model.",
        rows.assign(kind=np.where(rows["is_identifier"], "identity term", "")),
        {
            "Word": "{word}",
            "": "{kind}",
            "False alarms": "{n:,}",
            "Fall of the probability": estimate("change", "+.3f"),
        },
        f"Words of at least two texts first, and all identity terms. The first {MAX_WORDS} words of a text"
        " and all identity terms are left out. Bars: simultaneous 95% intervals by Student's t over texts.",
        Chart(
            "word",
            {"false alarms": "change"},
            "Fall of the probability without the word",
            "{word} {change:+.3f}",
            line=0.0,
        ),
    )


def _templates(audit: Audited) -> tuple[str, Section]:
    terms = audit.templates[audit.templates["is_identifier"]]
    top, alarms = terms.iloc[0], int(terms["n_positive"].sum())
    doubt = ""
    if not top["difference_low"] > 0 and terms["difference"].abs().max() > _ROUNDING:
        doubt = f", not significant; {_least_effect(top['least'])}"
    line = (
        f"Neutral sentences: {alarms:,} of {int(terms['n'].sum()):,} with an identifier are false alarms."
        f" {top['word']} has the highest mean probability, {top['mean']:.3f}, {top['difference']:+.3f}"
        f" ({top['difference_low']:+.3f} to {top['difference_high']:+.3f}) compared with neutral"
        f" words{doubt}. The mean difference of two groups is {audit.spread['gap']:.3f}."
    )
    return line, build_section(
        "Neutral sentences",
        "Sentences without any statement about a group, with each identifier, and with"
        f" {', '.join(NEUTRAL_WORDS)} for comparison.",
        audit.templates.head(N_TERMS),
        {
            "Word": "{word}",
            "Mean": "{mean:.3f}",
            "Range": "{low:.3f} to {high:.3f}",
            "Compared with neutral words": estimate("difference", "+.3f"),
            "False alarms": "{n_positive} of {n}",
        },
        "Bars: 95% intervals by Student's t over sentences, simultaneous for all identifiers.",
        Chart(
            "word",
            {"sentences": "difference"},
            "Probability minus that of neutral words",
            "{word} {mean:.3f}",
            line=0.0,
        ),
    )


def _hatecheck(audit: Audited) -> tuple[str, Section]:
    table = audit.hatecheck
    worst = table.loc[table["rate"].idxmin()]
    sums = table.groupby("is_hateful")[["passed", "n"]].sum()
    rates = {bool(is_hateful): row["passed"] / row["n"] for is_hateful, row in sums.iterrows()}
    parts = [
        f"{rates[is_hateful]:.1%} of the {name} cases"
        for is_hateful, name in ((True, "hateful"), (False, "harmless"))
        if is_hateful in rates
    ]
    doubt = ""
    if not (table["p_value"] <= SIGNIFICANT).any():
        doubt = f"; functionalities do not differ significantly ({_least_effect(worst['least_difference'])})"
    line = (
        f"HateCheck: {' and '.join(parts)} are answered correctly. The lowest rate is {worst['rate']:.1%} of"
        f" {worst['n']:,} ({worst['ci_low']:.1%} to {worst['ci_high']:.1%}), for"
        f" {worst['functionality']}{doubt}."
    )
    rows = table.sort_values("rate", kind="stable")
    return line, build_section(
        "HateCheck",
        "Cases that test one functionality each (Röttger et al. 2021). Names that end with _nh are harmless.",
        rows.assign(kind=np.where(rows["is_hateful"], "hateful", "harmless")),
        {
            "Functionality": "{functionality}",
            "Cases": "{n:,}",
            "Are": "{kind}",
            "Correct": "{rate:.1%} ({ci_low:.1%} to {ci_high:.1%})",
        },
        "Intervals: Clopper-Pearson, simultaneous 95% over all functionalities.",
        Chart(
            "functionality",
            {"cases": rows[["rate", "ci_low", "ci_high"]].to_numpy()},
            "Share of correct answers",
            "{functionality} {rate:.1%}",
        ),
    )


def _news(audit: Audited) -> tuple[str, Section]:
    plain, macro = macro_accuracy(audit.news)
    n_named, n = int(audit.news.set_index("identifier").loc[ANY, "n"]), _n_news(audit.news)
    line = f"Texts without hate: none of {n:,} texts names a group."
    if n_named:
        line = (
            f"Texts without hate: {plain:.1%} of {n_named:,} texts that name a group are called harmless"
            f" (mean over groups: {macro:.1%}). The other {n - n_named:,} texts name no group and are not"
            " counted."
        )
    return line, build_section(
        "Texts without hate",
        "Share of the texts without any hate that are called hateful, by the identifier in the text.",
        audit.news,
        {"Identifier": "{identifier}", "Texts": "{n:,}", "False alarms": _FALSE_ALARMS},
        "Intervals: Clopper-Pearson, not adjusted for several identifiers.",
    )


def _n_news(news: pd.DataFrame) -> int:
    return int(news.loc[news["identifier"].isin([ANY, NONE]), "n"].sum())


def _limits(audit: Audited) -> list[str]:
    limits = [
        "Only the identity terms that you name are measured, as entire words; other names of groups, and"
        " hints, are not measured.",
        "Labels are assumed to be correct. Annotators may themselves call texts hateful because of a name.",
        "A difference between texts with different names may be due to the rest of the texts. A swap changes"
        " only the name, and may make a sentence odd.",
        "Neutral sentences are few and short; a classifier can behave differently on real texts.",
        "Leaving out one word at a time misses the joint effect of several words.",
        "Intervals assume that texts are independent. An interval that includes 0 does not prove that there"
        " is no difference.",
    ]
    if audit.identifiers is None:
        limits.insert(0, "No labelled texts were given: the accuracy of the answers is unknown.")
    if audit.hatecheck is None:
        limits.append("HateCheck was not run: pass its cases with --hatecheck.")
    return limits
