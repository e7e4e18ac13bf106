"""Commands of ``biaslab fairness-testing text experiment``: the steps of the workflow on one corpus."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from biaslab.run.options import Out, Seed, Threads, grouped

app = typer.Typer(help="The experiment on one corpus, step by step.", no_args_is_help=True)

Results = Annotated[Path, typer.Argument(help="The folder of the corpus.")]
Kind = Annotated[str, typer.Option(help="lstm or gru.")]
Kinds = Annotated[str, typer.Option(help="lstm, gru or both, separated by a comma.")]
Repetitions = Annotated[int, typer.Option(help="Trainings of each network.", min=1)]
Independent = Annotated[
    int | None, typer.Option(help="Texts found on the test texts that measure improvement, at most.", min=1)
]
Hops = Annotated[int, typer.Option(help="Steps of the local phase from each discriminatory text.", min=1)]


@dataclass(frozen=True)
class GloveOptions:
    """How word vectors are trained."""

    window: Annotated[int, typer.Option(help="Words on each side that count as context.")] = 8
    dimension: Annotated[int, typer.Option(help="Length of a word vector.")] = 50
    epochs: Annotated[int, typer.Option(help="Passes over the co-occurrences.")] = 30
    x_max: Annotated[float, typer.Option(help="Co-occurrence from which on the weight is 1.")] = 100.0
    alpha: Annotated[float, typer.Option(help="Exponent of the weight below.")] = 0.75
    learning_rate: Annotated[float, typer.Option(help="AdaGrad's step size.")] = 0.05


@dataclass(frozen=True)
class CorpusChoice:
    """What of the corpus of word vectors is kept."""

    min_length: Annotated[int, typer.Option(help="Leave out articles with fewer tokens.")] = 1
    max_length: Annotated[int | None, typer.Option(help="Leave out articles with more tokens.")] = None
    max_tokens: Annotated[int | None, typer.Option(help="Stop when the articles have this many.")] = None
    min_count: Annotated[int, typer.Option(help="Leave out words that occur less often.")] = 1


@dataclass(frozen=True)
class Corpus:
    """Where a corpus is read from."""

    source: Annotated[Path, typer.Option(help="The file with its texts, or those to train on.")]
    format: Annotated[str, typer.Option(help="stormfront, ghc, wikipedia, jigsaw or table.")] = "table"
    validation: Annotated[Path | None, typer.Option(help="The file with the texts for validation.")] = None
    test: Annotated[Path | None, typer.Option(help="The file with the texts for testing.")] = None
    positive: Annotated[str | None, typer.Option(help="The positive label of a table.")] = None


@dataclass(frozen=True)
class Training:
    """How networks are trained."""

    epochs: Annotated[int, typer.Option(help="Passes over the training texts.", min=1)]
    batch_size: Annotated[int, typer.Option(help="Texts of a step.", min=1)]
    learning_rate: Annotated[float, typer.Option(help="Adam's step size.")]
    negative_weight: Annotated[float, typer.Option(help="Weight of a negative text in the loss.")]


@dataclass(frozen=True)
class Probes:
    """Further test sets."""

    nonfuzzed: Annotated[Path | None, typer.Option(help="Comments as they were written.")] = None
    fuzzed: Annotated[Path | None, typer.Option(help="The same with swapped identity terms.")] = None


@dataclass(frozen=True)
class EncoderOption:
    """The encoder of sentences."""

    config: Annotated[Path | None, typer.Option(help="Its config.json.")] = None
    vocabulary: Annotated[Path | None, typer.Option(help="Its vocab.txt.")] = None
    weights: Annotated[Path | None, typer.Option(help="Its weights; without, they are drawn.")] = None


@app.command("vectors")
@grouped
def vectors(
    source: Annotated[Path, typer.Argument(help="The corpus, or the file with word vectors.")],
    out: Out,
    parameters: GloveOptions,
    choice: CorpusChoice,
    seed: Seed,
    threads: Threads = 1,
    format: Annotated[
        str | None, typer.Option(help="Format of the corpus; without, the file holds word vectors.")
    ] = None,
) -> None:
    """Train word vectors on a corpus, or read them from a file."""
    from biaslab.core.jit import set_threads
    from biaslab.embeddings.glove import GloveParameters
    from biaslab.fairness_testing.text.vectors import read_vectors, train_vectors

    set_threads(threads)
    if format is None:
        read_vectors(source).save(out)
        return
    values = dict(vars(parameters))
    window = values.pop("window")
    glove = GloveParameters(**values)
    train_vectors(source, format, vars(choice), window, glove, seed, threads).save(out)


@app.command("prepare")
@grouped
def prepare(
    results: Results,
    corpus: Corpus,
    vectors: Annotated[Path, typer.Option(help="The word vectors, from `vectors`.")],
    terms: Annotated[Path, typer.Option(help="The features and their values.")],
    features: Annotated[str, typer.Option(help="The features that are tested, separated by commas.")],
    sentences: Annotated[Path, typer.Option(help="Neutral sentences, one a line.")],
    probes: Probes,
    seed: Seed,
) -> None:
    """Split a corpus, find its words, terms, neighbours: lexicon.npz, texts.npz, texts.tsv, vectors.tsv."""
    from biaslab.fairness_testing.text import corpus as science

    source = science.Source(corpus.format, corpus.source, corpus.validation, corpus.test, corpus.positive)
    further = {name: file for name, file in vars(probes).items() if file}
    science.prepare(results, source, vectors, terms, features.split(","), sentences, further, seed)


@app.command("train")
@grouped
def train(results: Results, models: Kinds, repetitions: Repetitions, training: Training, seed: Seed) -> None:
    """Train networks several times: MODEL/network-0.npz and on, models.tsv, training.tsv."""
    from biaslab.fairness_testing.text import experiment as science

    science.train_networks(results, models.split(","), repetitions, vars(training), seed)


@app.command("search")
def search(
    results: Results,
    model: Kind,
    repetitions: Repetitions,
    seeds: Annotated[int, typer.Option(help="Test texts that a search starts from, at most.", min=1)],
    hops: Hops,
    seed: Seed,
    threads: Threads,
) -> None:
    """Search all trainings of a network by all strategies: MODEL/*.tsv, seeds.parquet and found.npz."""
    from biaslab.core.jit import set_threads
    from biaslab.fairness_testing.text import search_experiment as science

    set_threads(threads)
    science.search_networks(results, model, repetitions, science.Effort(seeds, hops, seed))


@app.command("retrain")
@grouped
def retrain(
    results: Results,
    model: Kind,
    retrainings: Annotated[int, typer.Option(help="Retrainings, each with other texts.", min=2)],
    retraining_share: Annotated[float, typer.Option(help="Share of the found texts to add.", min=0, max=1)],
    training: Training,
    seed: Seed,
    independent: Independent = None,
) -> None:
    """Retrain a network with what was found: MODEL/retraining.tsv and unseen.tsv."""
    from biaslab.fairness_testing.text import retraining_experiment as science

    effort = (retrainings, retraining_share, independent)
    science.retrain_network(results, model, *effort, vars(training), seed)


@app.command("certify")
@grouped
def certify(
    results: Results,
    model: Kind,
    certified_epochs: Annotated[int, typer.Option(help="Passes over the training texts.", min=1)],
    training: Training,
    seed: Seed,
    independent: Independent = None,
) -> None:
    """Train a network certifiably: MODEL/certified.tsv and unseen_certified.tsv."""
    from biaslab.fairness_testing.text import retraining_experiment as science

    science.certify_network(results, model, certified_epochs, independent, vars(training), seed)


@app.command("encoder")
@grouped
def encoder(
    results: Results,
    models: Kinds,
    pairs: Annotated[int, typer.Option(help="Found pairs of each kind that are tested.", min=1)],
    encoder: EncoderOption,
    epochs: Annotated[int, typer.Option(help="Passes over the training texts.", min=1)],
    negative_weight: Annotated[float, typer.Option(help="Weight of a negative text in the loss.")],
    seed: Seed,
    layers: Annotated[
        int | None, typer.Option(help="Layers to keep, from the first; without, all.", min=1)
    ] = None,
) -> None:
    """Fine-tune the encoder and test on it what was found: encoder/models.tsv and agreement.tsv."""
    from biaslab.fairness_testing.text import encoder_experiment as science

    training = (layers, epochs, negative_weight)
    science.train_encoder_network(results, models.split(","), pairs, vars(encoder), *training, seed)


@app.command("measure")
@grouped
def measure(
    results: Results,
    models: Kinds,
    pairs: Annotated[int, typer.Option(help="Found texts of each kind that are measured.", min=1)],
    encoder: EncoderOption,
    seed: Seed,
    certified: Annotated[
        bool, typer.Option("--certified", help="Join the results of certified training, too.")
    ] = False,
    fine_tuned: Annotated[
        bool, typer.Option("--fine-tuned", help="Join the results of the fine-tuned encoder, too.")
    ] = False,
    threads: Threads = 1,
) -> None:
    """Measure how like the seeds the found texts are, and on which networks they hold; join all tables."""
    from biaslab.fairness_testing.text import measurement as science

    asked = {science.CERTIFIED: certified, science.ENCODER_KIND: fine_tuned}
    further = [name for name, is_joined in asked.items() if is_joined]
    science.measure(results, models.split(","), pairs, vars(encoder), further, seed, threads)
