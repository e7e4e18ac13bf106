"""Attribute biases of a corpus to documents: run the workflow's steps in order, write pages and an answer.

The files have the names and the columns of a setup's results.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab import answers
from biaslab.answers import Answer, Section, check_answer, write_answer
from biaslab.bias.measures import PARAMETERS
from biaslab.bias.settings import ExactTest
from biaslab.bias.word_sets import WordSets, read_word_sets
from biaslab.core.errors import InputError
from biaslab.core.files import write_text
from biaslab.core.io import read_parquet, read_tsv, write_parquet, write_tsv
from biaslab.core.simultaneous import level_of_each
from biaslab.core.stats import mean_interval
from biaslab.core.tables import text_columns
from biaslab.embeddings import BASELINE
from biaslab.embeddings.cooccurrence import count_corpus
from biaslab.embeddings.corpus import read_corpus
from biaslab.embeddings.retraining import train_glove
from biaslab.embeddings.settings import Choice, GloveParameters
from biaslab.embeddings.vocabulary import read_vocabulary
from biaslab.origins import baseline
from biaslab.origins.attribution.estimates import seed_values
from biaslab.origins.attribution.registry import BY_SEED
from biaslab.origins.attribution.scanner import read_scanner
from biaslab.origins.attribution.settings import InfluenceParameters, damping_of
from biaslab.origins.attribution.tables import set_table, write_documents
from biaslab.origins.checks.bias_gradient import pair_table
from biaslab.origins.pages.explanation import TESTS, Corpus, explain, read_gradients
from biaslab.origins.pages.highlight import write_page
from biaslab.origins.report.results import Setup
from biaslab.origins.sets import DECREASE, LOWERS, RAISES, targeted_set
from biaslab.origins.sets.selection import select_sets
from biaslab.run.area import Unit

ANSWER = "answer"
COMMAND = "biaslab origins attribute"
ESTIMATOR = "newton"

_LIMITS = [
    "An estimate extrapolates from a small decrease in the weight of a document. The removal of the entire"
    f" document, or of many documents, may have a smaller effect. {COMMAND} --verify retrains without the"
    " documents that raise the bias most.",
    "The largest of many estimates overestimate the effect on average, because they were chosen for their"
    " size.",
    "A bias depends on the words of the test and on the type of embedding. With other words or embeddings,"
    " other documents may raise and lower it.",
    "A document that raises a bias is not necessarily wrong, and other documents are not necessarily right.",
]


def attribute_corpus(
    source: Path,
    format: str,
    tests: list[Path],
    choice: Choice,
    model: GloveParameters,
    window: int,
    baselines: int,
    documents: int,
    seed: int,
    out: Path,
    verify: bool,
    threads: int,
    say: Callable[[str], None],
) -> str:
    """Count a corpus, train baselines, and write pages of the documents that raise and lower each bias most.

    Return the answer as text for a terminal. With `verify`, the documents that raise a bias are removed, and
    as many embeddings are retrained, each with the seed of a baseline.
    """
    words = [read_word_sets(test, PARAMETERS) for test in tests]
    names = [word_sets.name for word_sets in words]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"two tests have the name '{repeated[0]}'; write a unique name in each file")
    check_answer(out / ANSWER)
    verdicts: dict[str, list[str]] = {name: [] for name in names}
    corpus, listed, vocabulary = (out / n for n in ("corpus.npz", "documents.parquet", "vocabulary.tsv"))
    cooccurrence, batch = out / "cooccurrence.npz", out / f"embeddings/{BASELINE}/batch-0.npz"
    messages: list[str] = []
    read_corpus(source, format, choice, corpus, listed, vocabulary, messages.append)
    for line in messages:
        say(line)
    count_corpus(corpus, vocabulary, window, cooccurrence, threads)
    train_glove(cooccurrence, BASELINE, model, seed, batch, count=baselines, threads=threads)
    bias = baseline.measure([batch], read_vocabulary(vocabulary), words, ExactTest.permutations, seed)
    write_tsv(out / "baseline.tsv", bias)
    for test, name in zip(tests, names, strict=True):
        write_text(out / TESTS / f"{name}.yaml", test.read_text(encoding="utf-8"))
    influence = InfluenceParameters(damping=damping_of(model), x_max=model.x_max, alpha=model.alpha)
    scanner, weats = read_scanner([batch], cooccurrence, corpus, vocabulary, tests, influence, threads)
    titles, column, means = read_parquet(listed, ["document", "id", "title"]), f"{ESTIMATOR}_mean", {}
    for weat in weats:
        estimates = out / f"differential_bias/{weat.name}.parquet"
        write_documents(scanner, weat, titles, estimates, estimates.parent / BY_SEED / estimates.name)
        write_parquet(out / f"bias_gradient/{weat.name}.parquet", pair_table(scanner, weat))
        means[weat.name] = read_parquet(estimates, [column])[column].to_numpy()
    table = write_pages(source.stem, out, words, documents)
    if verify:
        sets, removed = out / "sets.parquet", select_sets(means, [documents], [], 0, seed)
        write_parquet(sets, removed)
        raising_sets = {name: targeted_set(name, DECREASE, documents) for name in names}
        batches = [out / f"embeddings/{name}/batch-0.npz" for name in raising_sets.values()]
        options = {"corpus": corpus, "sets": sets, "paired": True, "threads": threads}
        for name, file in zip(raising_sets.values(), batches, strict=True):
            train_glove(cooccurrence, name, model, seed, file, count=baselines, **options)
        baseline.write_sets(vocabulary, tests, out / "observed.tsv", batches)
        write_tsv(out / "predictions.tsv", set_table(scanner, weats, removed))
        n_raising = table[table["effect"] == RAISES].groupby("test").size()
        for test, name in raising_sets.items():
            verdicts[test].append(verdict(out, test, name, int(n_raising[test])))
    facts = {
        "Read": ". ".join(line.removeprefix(f"{source}: ") for line in messages),
        "Documents": f"{len(read_parquet(listed, ['document'])):,}",
        "Words": f"{len(read_tsv(vocabulary)):,} distinct words",
        "Embeddings": f"{baselines} GloVe, dimension {model.dimension}, {model.epochs} epochs",
        "Trained again": f"without the {documents} documents that raise a bias most" if verify else "none",
    }
    return write_answer(_answer(source, out, words, table, facts, verdicts), out / ANSWER)


def write_pages(name: str, out: Path, tests: Sequence[WordSets], documents: int) -> pd.DataFrame:
    """Write a page of each document at either end of each test, and their list: ``documents.tsv``."""
    corpus, rows = Corpus(Setup(Unit(name), out)), []
    for words in tests:
        scores = corpus.setup.differential_bias(words.name)[f"{ESTIMATOR}_mean"].to_numpy()
        gradients = read_gradients(corpus.setup, words)
        for effect, sign in ((RAISES, 1), (LOWERS, -1)):
            for rank, number in enumerate(np.argsort(-sign * scores, kind="stable")[:documents].tolist(), 1):
                document, page = corpus.document(number), f"pages/{words.name}-{effect}-{rank}.html"
                write_page(out / page, name, document, [explain(corpus, document, words, gradients)])
                fields = [number, document.id, document.title, scores[number], page]
                rows.append([words.name, effect, rank, *fields])
    columns = ["test", "effect", "rank", "document", "id", "title", f"{ESTIMATOR}_mean", "page"]
    table = pd.DataFrame(rows, columns=columns)
    write_tsv(out / "documents.tsv", table)
    return table


def verdict(out: Path, test: str, name: str, documents: int) -> str:
    """Return the predicted and observed changes by a removal as text; embeddings and baselines are paired."""
    before = read_tsv(out / "baseline.tsv", ("weat", "seed", "effect_size")).query("weat == @test")
    after = read_tsv(out / "observed.tsv", ("weat", "set", "seed", "effect_size"))
    after = after.query("weat == @test and set == @name").set_index("seed")["effect_size"]
    predictions = read_tsv(out / "predictions.tsv", ("weat", "set", "estimator", "predicted"))
    predictions = predictions.query("weat == @test and set == @name and estimator == @ESTIMATOR")
    before, predicted = before.set_index("seed")["effect_size"], predictions["predicted"].mean()
    change = (after - before.loc[after.index]).to_numpy()
    low, high = mean_interval(change)
    return (
        f"{test} changes without the {documents} documents that raise it most: predicted"
        f" {predicted - before.mean():+.3f}, retrained {change.mean():+.3f} (95% {low:+.3f} to {high:+.3f})."
    )


def _answer(
    source: Path,
    out: Path,
    tests: Sequence[WordSets],
    ends: pd.DataFrame,
    facts: Mapping[str, str],
    verdicts: Mapping[str, Sequence[str]],
) -> Answer:
    """Return the answer for the results in the folder `out`; `ends` are the rows of its ``documents.tsv``."""
    bias = read_tsv(out / "baseline.tsv", ("weat", "effect_size"))
    effect_sizes = {t.name: bias[bias["weat"] == t.name]["effect_size"].to_numpy() for t in tests}
    tables = {t.name: _with_intervals(out, t.name, ends[ends["test"] == t.name]) for t in tests}
    lines = []
    for test in tests:
        values = effect_sizes[test.name]
        low, high = mean_interval(values)
        lines.append(
            f"{test.title} ({test.name}): mean bias {values.mean():+.3f} of {len(values)} embeddings"
            f" (95% {low:+.3f} to {high:+.3f})."
        )
        lines += _document_lines(tables[test.name])
        lines += verdicts[test.name]
    return Answer(
        command=COMMAND,
        question=f"Which documents of {source.name} raise {' and '.join(effect_sizes)}, and which lower it?",
        data=facts,
        files=[source],
        lines=lines,
        sections=[_section(test, tables[test.name], len(effect_sizes[test.name])) for test in tests],
        limits=_LIMITS,
        numbers={name: {"bias": effect_sizes[name], "documents": tables[name]} for name in effect_sizes},
    )


def _with_intervals(out: Path, test: str, ends: pd.DataFrame) -> pd.DataFrame:
    """Return the documents at either end, with the mean of their estimates and its interval.

    The intervals are simultaneous for all documents (Bonferroni), because these have the largest estimates.
    """
    estimates = seed_values(read_parquet(out / f"differential_bias/{BY_SEED}/{test}.parquet"), ESTIMATOR)
    by_document = estimates[:, ends["document"]].T
    level = level_of_each(estimates.shape[1])
    intervals = np.array([mean_interval(values, level) for values in by_document]).reshape(-1, 2)
    table = ends[["document", "id", "title", "effect", "rank", "page"]]
    return table.assign(fall=by_document.mean(axis=1), fall_low=intervals[:, 0], fall_high=intervals[:, 1])


def _document_lines(table: pd.DataFrame) -> list[str]:
    """Return a line on the first document at either end, or on its absence if the sign is wrong."""
    lines = []
    for effect, sign, moves in ((RAISES, 1, "fall"), (LOWERS, -1, "rise")):
        first = table[table["effect"] == effect].iloc[0]
        if sign * first["fall"] > 0:
            ends = sorted(sign * first[["fall_low", "fall_high"]].astype(float))
            advice = " The interval includes 0; train more embeddings (--baselines)." if ends[0] <= 0 else ""
            lines.append(
                f"'{first['title']}' {effect} the bias most: without this document the bias would {moves} by"
                f" {sign * first['fall']:.3g} (95% {ends[0]:.3g} to {ends[1]:.3g}, simultaneous for all"
                f" documents).{advice}"
            )
        else:
            lines.append(f"No document {effect} the bias.")
    return lines


def _section(test: WordSets, table: pd.DataFrame, n_embeddings: int) -> Section:
    templates = {"Document": "{title}", "Effect on the bias": "{effect}"}
    templates["Decrease of the bias without the document"] = (
        "{fall:+.3g} ({fall_low:+.3g} to {fall_high:+.3g})"
    )
    pages = [answers.link("words in colour", page) for page in table["page"]]
    text = text_columns(table, templates)
    return Section(
        f"{test.name}: documents at both ends of the ranking",
        [
            "Estimated decrease of the bias without each document (above 0: the document raises the bias)."
            f" The estimator is {ESTIMATOR} with the damping of the training, averaged over {n_embeddings}"
            " embeddings."
        ],
        answers.dots(
            table["title"],
            {"documents": answers.with_interval(table, "fall")},
            "Decrease of the bias without the document",
            0.0,
        ),
        answers.listed(table, "{title} {fall:+.3g}"),
        text.assign(Page=pd.Series(pages, index=text.index, dtype=object)),
        "Bars: 95% intervals of the mean over embeddings (Student's t), simultaneous for all documents of the"
        " corpus (Bonferroni), because these documents were chosen for the size of their estimates.",
    )
