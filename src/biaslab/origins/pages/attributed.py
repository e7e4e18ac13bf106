"""From a corpus to pages of the documents behind its bias: steps of the workflow, one after another.

The files have the names and the columns of a setup's results.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.measures import PARAMETERS
from biaslab.bias.names import LOWERS, RAISES
from biaslab.bias.settings import ExactTest
from biaslab.bias.word_sets import WordSets, read_word_sets
from biaslab.core.answers import check_answer, write_answer
from biaslab.core.errors import InputError
from biaslab.core.files import write_text
from biaslab.core.io import read_parquet, read_tsv, write_tsv
from biaslab.core.stats import mean_interval
from biaslab.embeddings import BASELINE
from biaslab.embeddings.corpus import read_corpus
from biaslab.embeddings.counting import count_corpus
from biaslab.embeddings.retraining import train_glove
from biaslab.embeddings.settings import Choice, GloveParameters
from biaslab.origins import baseline
from biaslab.origins.attribution.registry import BY_SEED
from biaslab.origins.attribution.settings import InfluenceParameters, damping_of
from biaslab.origins.attribution.tables import write_differential_bias, write_predictions
from biaslab.origins.checks.bias_gradient.analysis import write_gradient
from biaslab.origins.pages.answer import ESTIMATOR, answer
from biaslab.origins.pages.explanation import TESTS, Corpus, explain, read_gradients
from biaslab.origins.pages.highlight import write_page
from biaslab.origins.report.results import Setup
from biaslab.origins.sets import selection
from biaslab.origins.sets.names import DECREASE, targeted_set
from biaslab.run.area import Unit

ANSWER = "answer"


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

    Returned is what a terminal shows of the answer, which is also a page and a file of all numbers.

    At either end `documents`; the damping is 2 / (learning_rate x epochs). With `verify` those that raise a
    bias are taken out, and as many embeddings trained again, each with the seed of a baseline.
    """
    words = _different([read_word_sets(test, PARAMETERS) for test in tests])
    check_answer(out / ANSWER)
    said: dict[str, list[str]] = {one.name: [] for one in words}
    corpus, listed, vocabulary = (out / n for n in ("corpus.npz", "documents.parquet", "vocabulary.tsv"))
    cooccurrence, batch = out / "cooccurrence.npz", out / f"embeddings/{BASELINE}/batch-0.npz"
    reading: list[str] = []
    read_corpus(source, format, choice, corpus, listed, vocabulary, reading.append)
    for line in reading:
        say(line)
    count_corpus(corpus, vocabulary, window, cooccurrence, threads)
    train_glove(cooccurrence, BASELINE, model, seed, batch, count=baselines, threads=threads)
    baseline.write_baseline([batch], vocabulary, tests, ExactTest.permutations, seed, out / "baseline.tsv")
    for test, one in zip(tests, words, strict=True):
        write_text(out / TESTS / f"{one.name}.yaml", test.read_text(encoding="utf-8"))
    influence = InfluenceParameters(damping=damping_of(model), x_max=model.x_max, alpha=model.alpha)
    files, bias = ([batch], cooccurrence, corpus), []
    for test, one in zip(tests, words, strict=True):
        bias.append(out / f"differential_bias/{one.name}.parquet")
        made = bias[-1], out / f"differential_bias/{BY_SEED}/{one.name}.parquet"
        gradient = out / f"bias_gradient/{one.name}.parquet"
        write_differential_bias(*files, listed, vocabulary, [test], influence, *made, threads=threads)
        write_gradient(*files, vocabulary, [test], influence, gradient, threads)
    table = write_pages(source.stem, out, words, documents)
    if verify:
        sets, observed, predicted = (out / n for n in ("sets.parquet", "observed.tsv", "predictions.tsv"))
        selection.write_sets(bias, ESTIMATOR, [documents], [], 0, seed, sets)
        names = {one.name: targeted_set(one.name, DECREASE, documents) for one in words}
        left = [out / f"embeddings/{name}/batch-0.npz" for name in names.values()]
        without = {"corpus": corpus, "sets": sets, "paired": True, "threads": threads}
        for name, file in zip(names.values(), left, strict=True):
            train_glove(cooccurrence, name, model, seed, file, count=baselines, **without)
        baseline.write_sets(vocabulary, tests, observed, left)
        write_predictions(*files, vocabulary, sets, tests, influence, predicted, threads)
        raising = table[table["effect"] == RAISES].groupby("test").size()
        for test, name in names.items():
            said[test].append(verdict(out, test, name, int(raising[test])))
    facts = {
        "Read": ". ".join(line.removeprefix(f"{source}: ") for line in reading),
        "Documents": f"{len(read_parquet(listed, ['document'])):,}",
        "Words": f"{len(read_tsv(vocabulary)):,} different ones",
        "Embeddings": f"{baselines} GloVe, dimension {model.dimension}, {model.epochs} epochs",
        "Trained again": f"without the {documents} documents that raise a bias most" if verify else "nothing",
    }
    return write_answer(answer(source, out, words, table, facts, said), out / ANSWER)


def _different(tests: list[WordSets]) -> list[WordSets]:
    names = [test.name for test in tests]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"two tests are called '{twice[0]}'; give each a name of its own in its file")
    return tests


def write_pages(name: str, out: Path, tests: Sequence[WordSets], documents: int) -> pd.DataFrame:
    """Write a page of each document at either end of each test, and the list of them: ``documents.tsv``."""
    corpus, rows = Corpus(Setup(Unit(name), out)), []
    for words in tests:
        mean, bias = corpus.setup.baseline_mean(words.name), corpus.setup.differential_bias(words.name)
        scores, gradients = bias[f"{ESTIMATOR}_mean"].to_numpy(), read_gradients(corpus.setup, words)
        for effect, sign in ((RAISES, 1), (LOWERS, -1)):
            for rank, number in enumerate(np.argsort(-sign * scores, kind="stable")[:documents].tolist(), 1):
                document, page = corpus.document(number), f"pages/{words.name}-{effect}-{rank}.html"
                explained = explain(corpus, document, words, gradients)
                write_page(out / page, name, document, [(words, mean, explained)])
                about = [number, document.id, document.title, scores[number], page]
                rows.append([words.name, effect, rank, *about])
    columns = ["test", "effect", "rank", "document", "id", "title", f"{ESTIMATOR}_mean", "page"]
    table = pd.DataFrame(rows, columns=columns)
    write_tsv(out / "documents.tsv", table)
    return table


def verdict(out: Path, test: str, name: str, documents: int) -> str:
    """Say what was predicted and observed without a set, each embedding against its own baseline."""
    before = read_tsv(out / "baseline.tsv", ("weat", "seed", "effect_size")).query("weat == @test")
    after = read_tsv(out / "observed.tsv", ("weat", "set", "seed", "effect_size"))
    after = after.query("weat == @test and set == @name").set_index("seed")["effect_size"]
    said = read_tsv(out / "predictions.tsv", ("weat", "set", "estimator", "predicted"))
    said = said.query("weat == @test and set == @name and estimator == @ESTIMATOR")
    before, predicted = before.set_index("seed")["effect_size"], said["predicted"].mean()
    change = (after - before.loc[after.index]).to_numpy()
    low, high = mean_interval(change)
    return (
        f"{test} without the {documents} that raise it most: predicted {predicted - before.mean():+.3f},"
        f" trained again {change.mean():+.3f} ({low:+.3f} to {high:+.3f})."
    )
