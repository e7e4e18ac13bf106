"""Commands of ``biaslab hate-speech experiment``: the steps of the workflow on one corpus."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biaslab.core.errors import InputError
from biaslab.run.options import Seed, grouped, numbers
from biaslab.run.outputs import To

if TYPE_CHECKING:
    from biaslab.hate_speech.corpus import Source

app = typer.Typer(help="The experiment on one corpus, step by step.", no_args_is_help=True)

Results = Annotated[Path, typer.Argument(help="The folder of the corpus, named like it.")]
Encoder = Annotated[Path, typer.Option(help="The folder of the encoder, from `encoder`.")]
Identifiers = Annotated[Path, typer.Option(help="The identity terms (.yaml or .txt).")]
Threads = Annotated[int, typer.Option(help="Threads of torch; equal numbers give equal bytes.", min=1)]
Device = Annotated[str, typer.Option(help="auto, cpu or cuda.")]
MethodName = Annotated[str, typer.Option(help="The method, soc-0.1 for instance.")]


@dataclass(frozen=True)
class Corpus:
    """Where a corpus is read from."""

    source: Annotated[Path, typer.Option(help="The file with its texts, or those to train on.")]
    format: Annotated[str, typer.Option(help="stormfront, ghc or table.")] = "table"
    validation: Annotated[Path | None, typer.Option(help="The file with the texts for validation.")] = None
    test: Annotated[Path | None, typer.Option(help="The file with the texts for testing.")] = None
    positive: Annotated[
        str | None, typer.Option(help="The positive label of a table; of stormfront not-nohate or hate.")
    ] = None
    split: Annotated[str, typer.Option(help="random, or grouped: no post in two parts.")] = "random"


@dataclass(frozen=True)
class Limits:
    """How many texts of each set are used."""

    train_limit: Annotated[int | None, typer.Option(help="Texts that encoders are trained on.")] = None
    validation_limit: Annotated[int | None, typer.Option(help="Texts for validation.")] = None
    test_limit: Annotated[int | None, typer.Option(help="Texts for testing.")] = None
    probes_limit: Annotated[int | None, typer.Option(help="Texts of each further test set.")] = None


@dataclass(frozen=True)
class Probes:
    """Further test sets."""

    news: Annotated[Path | None, typer.Option(help="Texts without hate that hold identity terms.")] = None
    hatecheck: Annotated[Path | None, typer.Option(help="HateCheck's test cases (.csv).")] = None
    fuzzed: Annotated[Path | None, typer.Option(help="Comments with swapped identity terms.")] = None
    nonfuzzed: Annotated[Path | None, typer.Option(help="The same comments as written.")] = None
    others: Annotated[
        str,
        typer.Option(help="Other corpora, in JSON: name to the options of a corpus (source, format, ...)."),
    ] = "{}"


@dataclass(frozen=True)
class Training:
    """How an encoder is fine-tuned."""

    negative_weight: Annotated[float, typer.Option(help="Weight of a negative text, where a positive has 1.")]
    schedule: Annotated[str, typer.Option(help="published or modern.")] = "published"
    epochs: Annotated[int, typer.Option(help="Passes over the texts, at most.", min=1)] = 20
    batch_size: Annotated[int, typer.Option(help="Texts of a step.", min=1)] = 32
    learning_rate: Annotated[float, typer.Option(help="Largest step size.")] = 2e-5
    validate_every: Annotated[int, typer.Option(help="Steps between validations.", min=1)] = 200
    halvings: Annotated[int, typer.Option(help="Halvings of the step size before the end.", min=1)] = 5
    stop: Annotated[str, typer.Option(help="paper: at that halving; code: at the next.")] = "paper"


@dataclass(frozen=True)
class Contexts:
    """The contexts of SOC."""

    radius: Annotated[int, typer.Option(help="Word pieces on each side that are sampled.", min=0)]
    samples: Annotated[int, typer.Option(help="Contexts of each phrase.", min=1)]
    add_itself: Annotated[bool, typer.Option("--add-itself", help="Count the text as it is as one more.")] = (
        False
    )


@app.command("encoder")
def encoder(
    config: Annotated[Path, typer.Option(help="The encoder's config.json.")],
    vocabulary: Annotated[Path, typer.Option(help="The encoder's vocab.txt.")],
    seed: Seed,
    out: Annotated[Path, typer.Option(help="The folder to write."), To.FOLDER],
    weights: Annotated[
        Path | None, typer.Option(help="The encoder's model.safetensors; without, weights are drawn.")
    ] = None,
    layers: Annotated[int | None, typer.Option(help="Layers to keep, from the first.", min=1)] = None,
) -> None:
    """Write the encoder that is fine-tuned: config.json, vocab.txt, model.safetensors."""
    from biaslab.text.encoder import EncoderFiles, prepare_encoder

    kind = "pretrained" if weights else "random"
    prepare_encoder(EncoderFiles(config, vocabulary, weights), out, layers, kind, seed)


@app.command("texts")
@grouped
def texts(
    results: Results,
    encoder: Encoder,
    identifiers: Identifiers,
    corpus: Corpus,
    probes: Probes,
    limits: Limits,
    seed: Seed,
) -> None:
    """Split and tokenise a corpus and its further test sets: texts, probes (.npz), probes, corpus (.tsv)."""
    from biaslab.hate_speech import preparation
    from biaslab.hate_speech.folder import Folder

    files = {name: getattr(probes, name) for name in ("news", "hatecheck", "fuzzed", "nonfuzzed")}
    preparation.prepare(
        Folder(results, encoder, identifiers),
        _source(corpus),
        {name: file for name, file in files.items() if file},
        _others(probes.others),
        preparation.Limits(
            limits.train_limit, limits.validation_limit, limits.test_limit, limits.probes_limit
        ),
        seed,
    )


@app.command("linear")
@grouped
def linear(
    results: Results,
    encoder: Encoder,
    identifiers: Identifiers,
    corpus: Corpus,
    negative_weight: Annotated[float, typer.Option(help="Weight of a negative text.")],
    linear_splits: Annotated[int, typer.Option(help="Random splits of each kind.", min=1)],
    removal_subsets: Annotated[int, typer.Option(help="Random subsets of each size.", min=1)],
    seed: Seed,
) -> None:
    """Train and test linear models: predictions, linear, linear_weights, removal (.tsv)."""
    from biaslab.hate_speech.folder import Folder
    from biaslab.hate_speech.linear_experiment import LinearEffort, run_linear

    effort = LinearEffort(negative_weight, linear_splits, removal_subsets, seed)
    run_linear(Folder(results, encoder, identifiers), _source(corpus), effort, _say)


@app.command("language-model")
def language_model(
    results: Results,
    encoder: Encoder,
    identifiers: Identifiers,
    epochs: Annotated[int, typer.Option(help="Passes over the texts.", min=1)],
    learning_rate: Annotated[float, typer.Option(help="Step size.")],
    width: Annotated[int, typer.Option(help="Length of embeddings and states.", min=2)],
    vocabulary: Annotated[str, typer.Option(help="texts or encoder.")],
    seed: Seed,
    threads: Threads,
) -> None:
    """Train the language model that samples contexts: language_model (.safetensors, .tsv)."""
    from biaslab.hate_speech.experiment import fit_language_model
    from biaslab.hate_speech.folder import Folder
    from biaslab.text.devices import make_deterministic
    from biaslab.text.language_model import LanguageModelSettings

    make_deterministic(threads)
    settings = LanguageModelSettings(
        epochs=epochs, learning_rate=learning_rate, embedding=width, hidden=width, vocabulary=vocabulary
    )
    fit_language_model(Folder(results, encoder, identifiers), settings, seed, _say)


@app.command("train")
@grouped
def train(
    results: Results,
    encoder: Encoder,
    identifiers: Identifiers,
    method: MethodName,
    number: Annotated[int, typer.Option(help="Which training of the method, from 0.", min=0)],
    training: Training,
    contexts: Contexts,
    seed: Seed,
    threads: Threads,
    device: Device = "auto",
) -> None:
    """Fine-tune the encoder by a method: models/METHOD/NUMBER/."""
    from biaslab.hate_speech.experiment import train_method
    from biaslab.hate_speech.folder import Folder
    from biaslab.hate_speech.methods import parse_method
    from biaslab.hate_speech.training import TrainingSettings
    from biaslab.text.devices import choose_device, make_deterministic

    make_deterministic(threads)
    settings = TrainingSettings(**vars(training))
    train_method(
        Folder(results, encoder, identifiers),
        parse_method(method),
        settings,
        _contexts(contexts),
        number,
        seed,
        choose_device(device),
    )


@app.command("evaluate")
@grouped
def evaluate(
    results: Results,
    encoder: Encoder,
    identifiers: Identifiers,
    method: MethodName,
    numbers_: Annotated[str, typer.Option("--numbers", help="Its trainings, separated by commas.")],
    contexts: Contexts,
    faithful_sentences: Annotated[
        int, typer.Option(help="Test sentences on which explanations are held against the classifier.", min=1)
    ],
    seed: Seed,
    threads: Threads,
    device: Device = "auto",
) -> None:
    """Test the trainings of a method: predictions, attributions and faithfulness of the method."""
    from biaslab.hate_speech.experiment import evaluate_method
    from biaslab.hate_speech.folder import Folder
    from biaslab.hate_speech.methods import parse_method
    from biaslab.text.devices import choose_device, make_deterministic

    make_deterministic(threads)
    evaluate_method(
        Folder(results, encoder, identifiers),
        parse_method(method),
        numbers(numbers_, "--numbers", int, "0,1,2"),
        _contexts(contexts),
        faithful_sentences,
        seed,
        choose_device(device),
        _say,
    )


@app.command("explain")
@grouped
def explain(
    results: Results,
    encoder: Encoder,
    identifiers: Identifiers,
    methods: Annotated[str, typer.Option(help="The methods to explain, separated by commas.")],
    sentences: Annotated[Path, typer.Option(help="Sentences whose hierarchies are made, one a line.")],
    n: Annotated[int, typer.Option(help="Test sentences whose every word is explained.", min=1)],
    contexts: Contexts,
    seed: Seed,
    threads: Threads,
    device: Device = "auto",
) -> None:
    """Explain the first training of some methods: importance.tsv, hierarchies.json."""
    from biaslab.hate_speech.explained import explain_methods
    from biaslab.hate_speech.folder import Folder
    from biaslab.text.devices import choose_device, make_deterministic
    from biaslab.text.labelled import read_texts

    make_deterministic(threads)
    explain_methods(
        Folder(results, encoder, identifiers),
        methods.split(","),
        list(read_texts(sentences)["text"]),
        _contexts(contexts),
        n,
        seed,
        choose_device(device),
        _say,
    )


@app.command("measure")
@grouped
def measure(
    results: Results,
    encoder: Encoder,
    identifiers: Identifiers,
    methods: Annotated[str, typer.Option(help="All methods, separated by commas.")],
    batch_size: Annotated[int, typer.Option(help="Texts of a step of training.", min=1)],
    contexts: Contexts,
    settings: Annotated[
        str,
        typer.Option(help="What trainings and explanations were made with, in JSON: name to number."),
    ] = "{}",
) -> None:
    """Measure all methods from their predictions: metrics, identity, functionalities, ... (.tsv)."""
    from biaslab.hate_speech.folder import Folder
    from biaslab.hate_speech.measurement import measure_corpus

    folder = Folder(results, encoder, identifiers)
    measure_corpus(folder, methods.split(","), _contexts(contexts), batch_size, _settings(settings))


def _source(corpus: Corpus) -> "Source":
    from biaslab.hate_speech.corpus import Source

    return Source(corpus.format, corpus.source, corpus.validation, corpus.test, corpus.positive, corpus.split)


def _others(text: str) -> "dict[str, Source]":
    try:
        described: dict[str, dict[str, Any]] = json.loads(text)
        paths = ("source", "validation", "test")
        corpora = {
            name: Corpus(**{key: Path(v) if key in paths else v for key, v in values.items()})
            for name, values in described.items()
        }
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(
            f'--others: no corpora in JSON ({error}); write for instance {{"mine": {{"source": "mine.csv"}}}}'
        ) from error
    return {name: _source(corpus) for name, corpus in corpora.items()}


def _settings(text: str) -> dict[str, float]:
    try:
        return {name: float(value) for name, value in json.loads(text).items()}
    except (ValueError, TypeError, AttributeError) as error:
        raise InputError(
            f'--settings: no numbers in JSON ({error}); write for instance {{"batch_size": 32}}'
        ) from error


def _contexts(contexts: Contexts):
    from biaslab.hate_speech.contexts import ContextSettings

    return ContextSettings(contexts.radius, contexts.samples, contexts.add_itself)


def _say(line: str) -> None:
    typer.echo(line, err=True)
