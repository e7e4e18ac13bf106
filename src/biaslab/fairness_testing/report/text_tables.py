"""The tables on texts, over all corpora (Zhang et al. 2021)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from biaslab.core.files import read_json_rows
from biaslab.core.tables import Table, text_columns
from biaslab.fairness_testing.report import results
from biaslab.fairness_testing.report.averages import TEXT_MEASURES, text_averages
from biaslab.fairness_testing.report.results import REPETITIONS, name_averages, ratio, show, summarize
from biaslab.fairness_testing.settings import (
    CERTIFIED,
    CONTROL,
    EXAMPLE,
    EXAMPLE_KEYS,
    OWN,
    PROPOSED,
    TEXT,
    TEXT_PREFIX,
)
from biaslab.run.area import table
from biaslab.run.plan.reports import Results
from biaslab.text.masking import masker

N_WANTED = 5000  # the number of discriminatory texts of the cost table, as in Table XI
_BENCHMARK = {"Corpus": "{corpus}", "Network": "{network}", "Feature": "{feature}"}
_DISTINCT = "Equal texts count once."
_MASKED = " Slurs are masked."


@table("text_corpus", "Texts", "texts", of=TEXT)
def corpora(units: Sequence[Results]) -> Table:
    """Return statistics of the texts: number, length, share of words with a vector (Section 5.1)."""
    data = results.read_texts(units, "texts")
    percent = data.assign(
        positive=100 * ratio(data["n_positive"], data["n_texts"]), known=100 * data["known_share"]
    )
    cells = {
        "Corpus": "{corpus}",
        "Part": "{part}",
        "With a value of": "{feature}",
        "Texts": "{n_texts:,.0f}",
        "Positive (%)": "{positive:.1f}",
        "Words": "{mean_words:.1f}",
        "Words with a vector (%)": "{known:.1f}",
    }
    note = (
        "Texts that hold at least one value of the feature (all: every text), the share of the positive"
        " label, their mean length, and the share of their words that have a vector of their own."
    )
    return Table(data, text_columns(percent, cells), "Texts", note)


@table("text_table3_models", "Table 3: networks that read texts", "models", of=TEXT)
def models(units: Sequence[Results]) -> Table:
    """Return the networks and their accuracy (Table III, texts)."""
    values = ["accuracy", "majority", "f1"]
    data = summarize(results.read_texts(units, "models"), ["corpus", "model", "n_train", "n_test"], values)
    percent = _scaled(data, values)
    cells = {
        "Corpus": "{corpus}",
        "Network": "{network}",
        "Training texts": "{n_train:,.0f}",
        "Test texts": "{n_test:,.0f}",
        "Accuracy (%)": "{accuracy:±.1f}",
        "More frequent label (%)": "{majority:.1f}",
        "F1 of the positive label (%)": "{f1:±.1f}",
    }
    note = (
        "On the test texts. More frequent label: its share, the accuracy of a classifier that gives every"
        " text this label. A repetition is a training from other weights."
    )
    return Table(data, _show(percent, cells), "Networks", note + REPETITIONS)


@table("text_table8", "Table 8: discriminatory texts", "global", "local", of=TEXT)
def finds(units: Sequence[Results]) -> Table:
    """Return the finds of the global and the local phase (Table VIII)."""
    globally = results.read_texts(units, "global")
    local = results.read_texts(units, "local")
    local = results.with_calls(local[local["start"] == OWN])
    keys = [*results.BENCHMARK, "repetition"]
    wide = globally.drop_duplicates(keys)[[*keys, "n_seeds", "n_raw"]].set_index(keys)
    strategies = [name for name in results.strategy_names() if (globally["strategy"] == name).any()]
    for name in strategies:
        wide[name] = globally[globally["strategy"] == name].set_index(keys)["n_found"]
    for tester in results.TEXT_TESTER_NAMES:
        own = local[local["tester"] == tester].set_index(keys)
        wide[f"local_{tester}"], wide[f"success_{tester}"] = own["n_discriminatory"], own["success"]
    values = [str(name) for name in wide]
    data = summarize(wide.reset_index(), results.BENCHMARK, values)
    cells = _BENCHMARK | {"Seeds": "{n_seeds:,.0f}", "Raw": "{n_raw:±,.0f}"}
    cells |= {results.strategy_names()[name]: f"{{{name}:±,.0f}}" for name in strategies}
    for tester, title in results.TEXT_TESTER_NAMES.items():
        cells |= {
            f"Local {title}": f"{{local_{tester}:±,.0f}}",
            f"Success of {title} (%)": f"{{success_{tester}:±.1f}}",
        }
    note = (
        "Seeds: test texts with a value of the feature. Raw: discriminatory as they are. Then those that each"
        " strategy makes of the others, and those that the local phases find around the raw ones and those of"
        f" RP, or of ADF_ASC. {_DISTINCT} Success: discriminatory ones among the different texts visited."
    )
    return Table(data, _show(data, cells), "Discriminatory texts", note + REPETITIONS)


@table("text_table9", "Table 9: how near the texts are", "validity", of=TEXT)
def nearness(units: Sequence[Results]) -> Table:
    """Return the nearness of discriminatory texts of the global phase to their seeds (Table IX)."""
    validity = results.read_texts(units, "validity")
    chosen = validity[(validity["phase"] == "global") & (validity["n_pairs"] > 0)]
    keys = [*results.BENCHMARK, "tester"]
    metrics = [metric for metric in results.METRIC_NAMES if (chosen["metric"] == metric).any()]
    wide = chosen.pivot(index=[*keys, "repetition", "n_pairs"], columns="metric", values="mean")
    wide = chosen[keys].drop_duplicates().merge(wide.reset_index(), on=keys)
    data = summarize(wide, keys, ["n_pairs", *metrics])
    data = results.in_order(data, "tester", list(results.strategy_names()))
    texts = data.assign(name=data["tester"].map(results.strategy_names()))
    cells = _BENCHMARK | {"Strategy": "{name}", "Pairs": "{n_pairs:,.0f}"}
    for metric in metrics:
        digits = 1 if "perplexity" in metric else 3
        cells[results.METRIC_NAMES[metric]] = f"{{{metric}:±.{digits}f}}"
    note = (
        "Between a seed and the discriminatory text made of it: words changed, Euclid's distance of the word"
        " vectors, likeness of the sets of words, BLEU with the seed as the reference, and cosine of sentence"
        " vectors (those of this run's encoder, not of the paper's); perplexity of the text and of the seed"
        " under this run's language model."
    )
    return Table(data, _show(texts, cells), "How near the texts are to their seeds", note + REPETITIONS)


@table("text_table11", "Table 11: cost in model queries", "local", of=TEXT)
def cost(units: Sequence[Results]) -> Table:
    """Return the model queries and gradients per discriminatory text (Table XI without a clock)."""
    local = results.read_texts(units, "local")
    local = results.with_calls(local[local["start"] == OWN])
    names = ("queries", "gradients", "calls")
    wanted = local.assign(**{name: N_WANTED * local[f"{name}_per_text"] for name in names})
    data = results.in_order(
        summarize(wanted, [*results.BENCHMARK, "tester"], names), "tester", list(results.TEXT_TESTER_NAMES)
    )
    cells = _BENCHMARK | {
        "Tester": "{name}",
        "Model queries": "{queries:±,.0f}",
        "Gradients": "{gradients:±,.0f}",
        "Together": "{calls:±,.0f}",
    }
    texts = data.assign(name=data["tester"].map(results.TEXT_TESTER_NAMES))
    note = (
        f"For {N_WANTED:,} different discriminatory texts of the local phase, at the rate of the whole"
        " search. A model query is a text that the network is asked about, a gradient one that it is"
        " differentiated at. The paper prints seconds of its machine; benchmarks/fairness_text.py prints"
        " those of the machine that runs it."
    )
    title = f"Model queries for {N_WANTED:,} discriminatory texts"
    return Table(data, _show(texts, cells), title, note + REPETITIONS)


@table("text_table13", "Table 13: retraining and certified training", "retraining", of=TEXT)
def retraining(units: Sequence[Results]) -> Table:
    """Return the discrimination removed by retraining with finds of ADF_ASC and by certified training."""
    title = "Discrimination removed by retraining and by certified training"
    return _trainings(units, (PROPOSED, CERTIFIED, CONTROL), title)


@table("text_table14", "Table 14: retraining by strategy", "retraining", of=TEXT)
def retraining_by_strategy(units: Sequence[Results]) -> Table:
    """Return the discrimination removed by retraining, by the strategy of the added finds (Table XIV)."""
    testers = ("asc", "adf_asc", "hf", "adf_hf", CONTROL)
    return _trainings(units, testers, "Discrimination removed by retraining, by strategy")


@table(
    "text_averages",
    "Averages over networks and features",
    *("global", "local", "validity", "retraining"),
    of=TEXT,
)
def average_table(units: Sequence[Results]) -> Table:
    """Return the averages over networks and features in the text of the paper."""
    files = ("global", "local", "validity", "retraining")
    data = text_averages(*(results.read_texts(units, name) for name in files))
    data.insert(0, "unit", TEXT_PREFIX + data["corpus"])
    ids = "adf-text-average-" + data["measure"].str.replace("_", "-")
    data["printed"] = ids.map(units[0].printed())
    cells = {
        "Corpus": "{corpus}",
        "Average": "{name}",
        "Settings": "{n_settings} of {n_all}",
        "Measured": "{mean:±.4g}",
        "Printed": "{printed}",
    }
    note = (
        "Each is taken for every network and feature and averaged over them, as the paper does; settings in"
        " which it is not defined, for instance a ratio to nothing found, do not count. Printed: of the"
        " paper's corpora, which these are not."
    )
    texts = _show(name_averages(data, TEXT_MEASURES), cells)
    return Table(data, texts, "Averages over networks and features", note + REPETITIONS)


@table("text_figure4_example", "Figure 4: sentences through the search", "example.json", of=TEXT)
def examples(units: Sequence[Results]) -> Table:
    """Return a few sentences at each step of the search, changed words in brackets (Figure 4)."""
    masks = {
        results.corpus_of(unit): masker(None if unit.option("unmask") else unit.file("masked_words"))
        for unit in units
    }
    files = [unit.folder / EXAMPLE for unit in units]
    examples_read = [example for file in files for example in read_json_rows(file, EXAMPLE_KEYS, "examples")]
    rows = [row for example in examples_read for row in _steps(example, masks.get(example["corpus"], str))]
    columns = [*results.BENCHMARK, "step", "text", "value", "instead", "label", "partner_label"]
    data = pd.DataFrame(rows, columns=columns).astype({"label": "Int64", "partner_label": "Int64"})
    cells = _BENCHMARK | {
        "Step": "{step}",
        "Text": "{text}",
        "Value": "{value}",
        "Instead": "{instead}",
        "Its label": "{label}",
        "Label with the other": "{partner_label}",
    }
    note = (
        "A sentence, and what the global and the local phase make of it; words in brackets differ from the"
        " step before. The labels are those of the text, and of the text with the other value instead."
    ) + ("" if all(unit.option("unmask") for unit in units) else _MASKED)
    return Table(data, _show(data, cells), "Sentences on their way through the search", note)


def _steps(example: Mapping[str, Any], mask: Callable[[str], str]) -> list[list[Any]]:
    rows, before = [], example["sentence"]
    checked = "sentence" if example["global"] is None else "global"  # the text of the labels
    partner, labels = example["partner"] or {}, example["labels"]
    exchanged = [mask(partner[end]) if partner else None for end in ("from", "to")]
    checked_cells = [*exchanged, labels["x"], labels["partner"]]
    for step, key in (("original", "sentence"), ("global", "global"), ("local", "local")):
        words = example[key]
        if words is not None:
            # Every step replaces words one by one, so that the lengths are equal.
            marked = [
                mask(new) if new == old else f"[{mask(new)}]" for new, old in zip(words, before, strict=True)
            ]
            label_cells = checked_cells if key == checked else [None] * len(checked_cells)
            rows.append(
                [*(example[name] for name in results.BENCHMARK), step, " ".join(marked), *label_cells]
            )
            before = words
    return rows


def _trainings(units: Sequence[Results], testers: Sequence[str], title: str) -> Table:
    """Return the discrimination removed by trainings, and their effect on the labels of the test texts."""
    values = ["n_added", "n_independent", "n_removed", "improvement"]
    values += [f"{name}_{end}" for name in ("accuracy", "f1") for end in ("before", "after")]
    all_ = results.read_texts(units, "retraining")
    chosen = results.in_order(all_[all_["tester"].isin(testers)], "tester", list(results.TRAINING_NAMES))
    data = summarize(chosen, [*results.BENCHMARK, "tester", "label_rule"], values)
    names = [results.training_name(t, r) for t, r in zip(data["tester"], data["label_rule"], strict=True)]
    percent = _scaled(data, values[4:]).assign(name=names)
    cells = _BENCHMARK | {
        "Trained with": "{name}",
        "Added": "{n_added:,.0f}",
        "Judged by": "{n_independent:,.0f}",
        "Removed (%)": "{improvement:±.1f}",
        "Accuracy before (%)": "{accuracy_before:.1f}",
        "Accuracy after (%)": "{accuracy_after:±.1f}",
        "F1 before (%)": "{f1_before:.1f}",
        "F1 after (%)": "{f1_after:±.1f}",
    }
    note = (
        "Discriminatory texts that ADF_ASC found from the test texts, which are in no training, and which"
        " share of them is no longer discriminatory. Nothing added: training again alone. The paper does not"
        " state the label of added texts."
    )
    return Table(data, _show(percent, cells), title, note + REPETITIONS)


def _scaled(data: pd.DataFrame, values: Sequence[str]) -> pd.DataFrame:
    """Return shares, and the ends of their intervals, in percent."""
    columns = [f"{value}{end}" for value in values for end in ("", "_ci_low", "_ci_high")]
    return data.assign(**{column: 100 * data[column] for column in columns})


def _show(data: pd.DataFrame, templates: Mapping[str, str]) -> pd.DataFrame:
    network = {"network": data["model"].map(results.NETWORK_NAMES)} if "model" in data else {}
    return show(data.assign(**network), templates)
