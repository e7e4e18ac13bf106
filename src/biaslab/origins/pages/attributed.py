"""From a corpus to pages of the documents behind its bias: steps of the workflow, one after another.

The files have the names and the columns of a setup's results.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.bias.names import LOWERS, RAISES
from biaslab.bias.settings import ExactTest
from biaslab.bias.word_sets import read_word_sets
from biaslab.core.io import read_tsv, write_tsv
from biaslab.core.stats import mean_interval
from biaslab.embeddings import BASELINE
from biaslab.embeddings.corpus import read_corpus
from biaslab.embeddings.counting import count_corpus
from biaslab.embeddings.retraining import train_glove
from biaslab.embeddings.settings import Choice, GloveParameters
from biaslab.origins import baseline, perturbation
from biaslab.origins.attribution.settings import InfluenceParameters, damping_of
from biaslab.origins.attribution.tables import write_differential_bias, write_predictions
from biaslab.origins.checks.bias_gradient.analysis import write_gradient
from biaslab.origins.pages.explanation import Corpus, explain
from biaslab.origins.pages.highlight import write_page
from biaslab.origins.report.results import Setup
from biaslab.origins.sets import DECREASE, targeted_set
from biaslab.run.area import Unit

ESTIMATOR = "newton"


def attribute_corpus(
    source: Path,
    format: str,
    test: Path,
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
) -> None:
    """Count a corpus, train baselines, and write pages of the `documents` that raise and lower a bias most.

    The damping is 2 / (learning_rate x epochs). With `verify` those that raise it are taken out, and as many
    embeddings trained again, each with the seed of a baseline.
    """
    words = read_word_sets(test)
    corpus, listed, vocabulary = (out / n for n in ("corpus.npz", "documents.parquet", "vocabulary.tsv"))
    cooccurrence, batch = out / "cooccurrence.npz", out / f"embeddings/{BASELINE}/batch-0.npz"
    bias, gradient = (out / f"{n}/{words.name}.parquet" for n in ("differential_bias", "bias_gradient"))
    read_corpus(source, format, choice, corpus, listed, vocabulary, say)
    count_corpus(corpus, vocabulary, window, cooccurrence, threads)
    train_glove(cooccurrence, BASELINE, model, seed, batch, count=baselines, threads=threads)
    baseline.write_baseline([batch], vocabulary, [test], ExactTest.permutations, seed, out / "baseline.tsv")
    influence = InfluenceParameters(damping=damping_of(model), x_max=model.x_max, alpha=model.alpha)
    files = [batch], cooccurrence, corpus
    write_differential_bias(*files, listed, vocabulary, [test], influence, bias, threads=threads)
    write_gradient(*files, vocabulary, [test], influence, gradient, threads)
    table = write_pages(source.stem, out, words, documents)
    say(f"{out}/documents.tsv: the {documents} documents that raise and lower {words.name} most, with pages")
    if verify:
        sets, observed, predicted = (out / n for n in ("sets.parquet", "observed.tsv", "predictions.tsv"))
        perturbation.write_sets([bias], ESTIMATOR, [documents], [], 0, seed, sets)
        name = targeted_set(words.name, DECREASE, documents)
        left = out / f"embeddings/{name}/batch-0.npz"
        train_glove(
            cooccurrence, name, model, seed, left, count=baselines, corpus=corpus, sets=sets, paired=True,
            threads=threads,
        )  # fmt: skip
        baseline.write_sets(vocabulary, [test], observed, [left])
        write_predictions(*files, vocabulary, sets, [test], influence, predicted, threads)
        say(verdict(out, words.name, name, int((table["effect"] == RAISES).sum())))


def write_pages(name: str, out: Path, words, documents: int) -> pd.DataFrame:
    """Write a page of each document at either end, and the list of them: ``documents.tsv``."""
    corpus = Corpus(Setup(Unit(name), out))
    mean, bias = corpus.setup.baseline_mean(words.name), corpus.setup.differential_bias(words.name)
    scores, rows = bias[f"{ESTIMATOR}_mean"].to_numpy(), []
    for effect, sign in ((RAISES, 1), (LOWERS, -1)):
        for rank, number in enumerate(np.argsort(-sign * scores, kind="stable")[:documents].tolist(), 1):
            document, page = corpus.document(number), f"pages/{effect}-{rank}.html"
            write_page(out / page, name, document, [(words, mean, explain(corpus, document, words))])
            rows.append([effect, rank, number, document.id, document.title, scores[number], page])
    columns = ["effect", "rank", "document", "id", "title", f"{ESTIMATOR}_mean", "page"]
    table = pd.DataFrame(rows, columns=columns)
    write_tsv(out / "documents.tsv", table)
    return table


def verdict(out: Path, test: str, name: str, documents: int) -> str:
    """Say what was predicted and observed without a set, each embedding against its own baseline."""
    before = read_tsv(out / "baseline.tsv", ("weat", "seed", "effect_size")).set_index("seed")["effect_size"]
    after = read_tsv(out / "observed.tsv", ("set", "seed", "effect_size")).set_index("seed")["effect_size"]
    said = read_tsv(out / "predictions.tsv", ("set", "estimator", "predicted"))
    predicted = said[(said["set"] == name) & (said["estimator"] == ESTIMATOR)]["predicted"].mean()
    change = (after - before.loc[after.index]).to_numpy()
    low, high = mean_interval(change)
    return (
        f"{test} without the {documents} that raise it most: predicted {predicted - before.mean():+.3f},"
        f" trained again {change.mean():+.3f} [{low:+.3f}, {high:+.3f}], from {before.mean():.3f}"
    )
