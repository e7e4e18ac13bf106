"""Table 3 of Brunet et al. 2019: the setups."""

from collections.abc import Sequence

import pandas as pd

from biaslab.core.tables import MISSING, Table
from biaslab.origins.report.results import Setup
from biaslab.origins.sets.names import BASELINE

_NOTE = (
    "Lengths count the tokens of an article before the vocabulary is applied, the number of tokens those "
    "in the vocabulary. Analogies: mean ± standard deviation over the baseline embeddings, of the "
    "questions whose words are all in the vocabulary; coverage is their share of all questions."
)


def experimental_setups(setups: Sequence[Setup]) -> Table:
    """Table 3: corpus, vocabulary, hyperparameters and analogies of every setup."""
    columns = {setup.name: _setup_rows(setup) for setup in setups}
    data = pd.DataFrame(
        [
            {"setup": name, "section": section, "parameter": parameter, "value": _plain(value)}
            for name, rows in columns.items()
            for section, parameter, _, _, value in rows
        ]
    )
    first = next(iter(columns.values()))
    shown = pd.DataFrame({"Section": [row[0] for row in first], "Parameter": [row[2] for row in first]})
    shown["Section"] = shown["Section"].where(~shown["Section"].duplicated(), "")
    for name, rows in columns.items():
        shown[name] = [
            MISSING if pd.isna(value) else format(value, spec) if spec else str(value)
            for *_, spec, value in rows
        ]
    return Table(data, shown, "Experimental setups", _NOTE)


def _setup_rows(setup: Setup) -> list[tuple[str, str, str, str, object]]:
    """Return section, machine name, human name, format and value of every parameter of a setup."""
    documents = setup.documents()
    analogies = _analogies(setup)
    accuracy = analogies["accuracy"]
    is_part = setup.option("corpus", "unit") == "part"
    unit = f"parts of {setup.option('corpus', 'part_length')} tokens" if is_part else "articles"
    articles = documents["id"].str.rsplit("#", n=1).str[0] if is_part else documents["id"]
    return [
        ("Corpus", "unit", "Documents are", "", unit),
        ("Corpus", "min_length", "Min. article length", ",", setup.option("corpus", "min_length")),
        ("Corpus", "max_length", "Max. article length", ",", setup.option("corpus", "max_length")),
        ("Corpus", "n_articles", "Num. articles", ",", articles.nunique()),
        ("Corpus", "n_documents", "Num. documents", ",", len(documents)),
        ("Corpus", "n_tokens", "Num. tokens", ",", int(documents["n_tokens"].sum())),
        ("Vocabulary", "min_count", "Token min. count", ",", setup.option("vocabulary", "min_count")),
        ("Vocabulary", "vocabulary_size", "Vocabulary size", ",", len(setup.table("vocabulary", "word"))),
        ("GloVe", "context_window", "Context window", "", "symmetric"),
        ("GloVe", "window", "Window size", "", setup.option("glove", "window")),
        ("GloVe", "alpha", "α", "g", setup.option("glove", "alpha")),
        ("GloVe", "x_max", "x_max", "g", setup.option("glove", "x_max")),
        ("GloVe", "dimension", "Vector dimension", ",", setup.option("glove", "dimension")),
        ("GloVe", "epochs", "Training epochs", ",", setup.option("glove", "epochs")),
        ("Performance", "top1_analogies", "TOP-1 analogies", ".1%", accuracy.mean()),
        ("Performance", "top1_analogies_sd", "± std. dev.", ".1%", accuracy.std(ddof=1)),
        ("Performance", "analogy_coverage", "Analogy coverage", ".1%", analogies["coverage"].mean()),
    ]


def _analogies(setup: Setup) -> pd.DataFrame:
    """Return the scores of the baseline embeddings."""
    table = setup.table("analogies", "set", "accuracy", "coverage")
    return table[table["set"] == BASELINE]


def _plain(value: object) -> str:
    return "" if pd.isna(value) else f"{value:.10g}" if isinstance(value, float) else str(value)
