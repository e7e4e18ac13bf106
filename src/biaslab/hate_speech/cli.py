"""Commands of ``biaslab hate-speech``: the user's own texts and classifiers, and the experiment."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biaslab.core.errors import InputError
from biaslab.core.settings import SEED, validate
from biaslab.hate_speech.settings import AnalysisContexts, Training, TrainingSettings
from biaslab.run.commands.options import AnswerOut, Masking, Seed, grouped, option
from biaslab.run.commands.outputs import To
from biaslab.run.extras import need
from biaslab.text import settings
from biaslab.text.settings import LanguageModel

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from biaslab.hate_speech.adapters import FolderClassifier, TextClassifier
    from biaslab.hate_speech.contexts import ContextSettings
    from biaslab.text.labelled import LeftOut
    from biaslab.text.language_model import BiGRU

app = typer.Typer(
    help="Train, explain and audit classifiers of hate speech, and reduce their bias towards identity terms.",
    no_args_is_help=True,
)

_EXTRA = "neural"

Model = Annotated[
    str,
    typer.Argument(
        help="Folder of a classifier of transformers (BERT, RoBERTa, ...); or MODULE:NAME, here"
        " or installed, of a function that takes a list of texts and returns probabilities, (n,) of the"
        " positive class, or of an object with predict_proba and classes_; --positive names that class."
    ),
]
Limit = Annotated[
    int | None, typer.Option(help="Number of texts, drawn with the share of positive texts kept.", min=2)
]
Threads = Annotated[
    int, typer.Option(help="Number of threads; another number changes results by rounding.", min=1)
]
Device = Annotated[str, typer.Option(help="Device: auto, cpu or cuda.")]


@dataclass(frozen=True)
class Columns:
    """The columns of a table of texts."""

    text: Annotated[str, typer.Option(help="Column of the text.")] = "text"
    label: Annotated[str, typer.Option(help="Column of the label, which has two values.")] = "label"
    positive: Annotated[
        str | None,
        typer.Option(
            help="Positive label of the texts and the classifier; by default 1. If the labels of"
            " the texts are 0 and 1, it names only the classifier's class."
        ),
    ] = None
    negative: Annotated[
        str | None, typer.Option(help="Negative label of the texts; texts with a third label are skipped.")
    ] = None


OWN_TRAINING = Training(epochs=3, learning_rate=2e-5, validate_every=200)
"""Defaults for training an entire encoder on a user's texts, with small steps."""


@dataclass(frozen=True)
class Explaining:
    """How sentences are explained."""

    radius: option(AnalysisContexts, "radius") = AnalysisContexts.radius
    samples: option(AnalysisContexts, "samples") = 20
    language_model: Annotated[
        Path | None,
        typer.Option(
            help="Language model that samples contexts (.safetensors, from train); by default that of MODEL."
        ),
    ] = None


@app.command("train")
@grouped
def train(
    data: Annotated[Path, typer.Argument(help="Labelled texts (.csv, .tsv or .jsonl, also .gz).")],
    encoder: Annotated[
        Path, typer.Option(help="Folder of a BERT: config.json, vocab.txt, model.safetensors.")
    ],
    out: Annotated[
        Path, typer.Option(help="Folder of the classifier; an interrupted training resumes there."), To.FOLDER
    ],
    columns: Columns,
    training: Training = OWN_TRAINING,
    negative_weight: Annotated[
        float | None,
        typer.Option(
            help="Weight of a negative text in the loss, relative to a positive one; by default the number of"
            " positive texts per negative text, at most 1."
        ),
    ] = None,
    identifiers: Annotated[
        Path | None,
        typer.Option(
            help="Your identity terms (.yaml or .txt, one per line); required except for vanilla and ear."
        ),
    ] = None,
    method: Annotated[
        str, typer.Option(help="Method: vanilla, wr, or oc-A, soc-A, ear-A with the strength A.")
    ] = "soc-0.1",
    group: Annotated[
        str | None, typer.Option(help="Column that groups texts which belong together, for example by post.")
    ] = None,
    validation_share: Annotated[
        float, typer.Option(help="Share of the texts for validation, which selects the best weights.")
    ] = 0.1,
    limit: Limit = None,
    layers: Annotated[
        int | None, typer.Option(help="Number of layers of the encoder to keep, from the first.", min=1)
    ] = None,
    language_model_epochs: option(LanguageModel, "epochs", "--language-model-epochs") = 10,
    seed: Seed = SEED,
    threads: Threads = 1,
    device: Device = "auto",
) -> None:
    """Fine-tune an encoder on your own texts; write a folder that transformers reads, and history.tsv."""
    need(_EXTRA)
    from biaslab.hate_speech.methods import parse_method
    from biaslab.hate_speech.own_training import OwnSettings, train_own
    from biaslab.hate_speech.pages import show_training
    from biaslab.run.commands.terminal import page_console
    from biaslab.text.devices import choose_device, make_deterministic
    from biaslab.text.identifiers import Identifiers, read_identifiers
    from biaslab.text.language_model import LanguageModelSettings

    parsed, place = parse_method(method), choose_device(device)
    make_deterministic(threads)
    if identifiers is None and (parsed.removes_words or parsed.explains):
        raise InputError(f"--method {method}: needs identity terms; name their file with --identifiers")
    table, left_out = _labelled(data, columns, group)
    share = float(table["label"].mean())
    default_weight = min(1.0, share / (1 - share))
    settings = OwnSettings(
        validate(TrainingSettings, vars(training) | {"negative_weight": negative_weight or default_weight}),
        LanguageModelSettings(epochs=language_model_epochs),
        layers,
        validation_share,
        limit,
        seed,
    )
    terms = read_identifiers(identifiers) if identifiers else Identifiers(())
    with _bars() as progress:
        trained = train_own(table, encoder, parsed, terms, settings, out, place, progress)
    page = page_console()
    for line in _left_out_lines(data, left_out):
        page.print(line)
    show_training(page, trained, out)


@app.command("explain")
@grouped
def explain(
    model: Model,
    explaining: Explaining,
    masking: Masking,
    sentence: Annotated[str | None, typer.Argument(help="The sentence.")] = None,
    file: Annotated[
        Path | None,
        typer.Option(help="File of sentences instead (.txt, one per line; .csv, .tsv or .jsonl)."),
    ] = None,
    identifiers: Annotated[
        Path | None, typer.Option(help="Your identity terms; the command also prints their importance.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Path of the figure, without suffix (.svg, .pdf, .png, .html, .tsv)."),
        To.STEM,
    ] = None,
    limit: Annotated[
        int | None, typer.Option(help="Number of sentences of the file to explain.", min=1)
    ] = None,
    positive: Annotated[
        str | None, typer.Option(help="Positive label, if the classifier names its labels; by default 1.")
    ] = None,
    seed: Seed = SEED,
    threads: Threads = 1,
    device: Device = "auto",
) -> None:
    """Draw the words and phrases of a sentence that a classifier finds hateful (red) or harmless (blue)."""
    need(_EXTRA)
    from biaslab.hate_speech.adapters import is_plain_bert, load_folder
    from biaslab.hate_speech.contexts import OC
    from biaslab.hate_speech.explanations import explain_by_leaving_out, explain_sentences
    from biaslab.hate_speech.pages import show_explanations, write_explanations
    from biaslab.text.devices import make_deterministic
    from biaslab.text.identifiers import read_identifiers
    from biaslab.text.labelled import LeftOut, checked_text, read_texts
    from biaslab.text.masking import masker

    make_deterministic(threads)
    left_out = LeftOut()
    if (sentence is None) == (file is None):
        raise InputError("there is no sentence; pass one, or a file with --file")
    if sentence is not None:
        sentences = [checked_text(sentence, "the sentence")]
    else:
        sentences = list(read_texts(file, left_out=left_out)["text"])[:limit]
    mask = masker(masking.digests(settings.Masking.masked_words))
    terms = read_identifiers(identifiers).terms if identifiers else ()
    with _bars() as progress:
        count = partial(progress, "sentences")
        if Path(model).is_dir() and is_plain_bert(Path(model)):
            classifier = load_folder(model, device, positive)
            contexts, language_model = _contexts(explaining, Path(model), classifier)
            explained = explain_sentences(classifier, sentences, contexts, language_model, seed, count)
        else:
            if explaining.language_model is not None:
                raise InputError(
                    f"--language-model: {model} is not an uncased BERT of two labels; omit the option"
                )
            contexts = OC
            classifier = _classifier(model, device, threads, positive)
            explained = explain_by_leaving_out(classifier, sentences, count)
    for line in _reading_lines(classifier, model, sentences, file, left_out):
        typer.echo(line)
    show_explanations(explained, contexts, terms, mask)
    if out is not None:
        write_explanations(out, explained, contexts, mask)


@app.command("audit")
@grouped
def audit_classifier(
    model: Model,
    identifiers: Annotated[Path, typer.Option(help="Your identity terms (.yaml or .txt, one per line).")],
    columns: Columns,
    masking: Masking,
    data: Annotated[
        Path | None, typer.Argument(help="Labelled texts to measure on (.csv, .tsv or .jsonl, also .gz).")
    ] = None,
    positive_class: Annotated[
        str | None,
        typer.Option(help="Positive class of the classifier, if the texts have another name for it."),
    ] = None,
    hatecheck: Annotated[
        Path | None,
        typer.Option(help="HateCheck's cases (test_suite_cases.csv), from biaslab datasets fetch hatecheck."),
    ] = None,
    news: Annotated[
        Path | None, typer.Option(help="Texts without any hate (.csv, .tsv, .jsonl, or .txt, one per line).")
    ] = None,
    template_file: Annotated[
        Path | None,
        typer.Option(help="Neutral sentences of your own (.txt, one per line), with {} for the term."),
    ] = None,
    out: AnswerOut = Path("hate-speech-audit"),
    limit: Limit = None,
    seed: Seed = SEED,
    threads: Threads = 1,
    device: Device = "auto",
) -> None:
    """Measure whether naming a group changes the answers of a classifier; write lines and a page."""
    from biaslab.answers import check_answer, write_answer
    from biaslab.hate_speech import auditing
    from biaslab.hate_speech.report.audited import answer
    from biaslab.text.corpora import read_hatecheck
    from biaslab.text.identifiers import read_identifiers
    from biaslab.text.labelled import LeftOut, read_texts
    from biaslab.text.masking import masker
    from biaslab.text.splits import draw

    check_answer(out)
    classifier = _classifier(model, device, threads, positive_class or columns.positive, "--positive-class")
    terms = read_identifiers(identifiers).terms
    table, left_out = None, LeftOut()
    if data:
        table, left_out = _labelled(data, columns, classes=classifier.class_names)
        table = draw(table, limit, seed)
    harmless = None
    if news:
        harmless = list(draw(read_texts(news, columns.text).assign(label=0), limit, seed)["text"])
    cases = read_hatecheck(hatecheck) if hatecheck else None
    templates = tuple(read_texts(template_file)["text"]) if template_file else auditing.TEMPLATES

    def score(texts: "Sequence[str]", what: str) -> "np.ndarray":
        with _bars() as progress:
            return classifier.scores(texts, lambda done, n: progress(what, done, n))

    mask = masker(masking.digests(settings.Masking.masked_words))
    audited = auditing.audit(score, terms, table, cases, templates, seed, harmless, mask)
    texts = list(table["text"]) if data else []
    notes = _reading_lines(classifier, model, texts, data, left_out, terms)
    positive = columns.positive or "1"
    typer.echo(write_answer(answer(audited, model, data, hatecheck, positive, notes, news), out))


def _classifier(
    model: str, device: str, threads: int, positive: str | None, option: str = "--positive"
) -> "TextClassifier":
    """Return the classifier of an argument; only a folder needs torch."""
    if Path(model).is_dir():
        need(_EXTRA)
        from biaslab.text.devices import make_deterministic

        make_deterministic(threads)
    from biaslab.hate_speech.adapters import load_classifier_of

    return load_classifier_of(model, device, positive, option)


def _reading_lines(
    classifier: "TextClassifier",
    model: str,
    texts: "Sequence[str]",
    data: Path | None,
    left_out: "LeftOut",
    terms: tuple[str, ...] = (),
) -> list[str]:
    from biaslab.hate_speech.auditing import name_groups

    reading = f"{Path(model).name}: {classifier.reading}"
    if texts and (lengths := classifier.lengths(texts)) is not None:
        reading += f" {lengths.sentence(lambda chosen: name_groups(texts, chosen, terms))}"
    return [reading] + (_left_out_lines(data, left_out, terms) if data else [])


def _left_out_lines(data: Path, left_out: "LeftOut", terms: tuple[str, ...] = ()) -> list[str]:
    """Return lines on the number of rows left out, the reasons, and the groups that they name."""
    from biaslab.hate_speech.auditing import name_groups

    texts = [text for _, text in left_out.rows]
    groups = name_groups(texts, [True] * len(texts), terms)
    sentence = left_out.sentence(data)
    return ([f"{sentence.removesuffix('.')}{groups}."] if sentence else []) + left_out.changes


def _labelled(
    data: Path, columns: Columns, group: str | None = None, classes: "Sequence[str]" = ()
) -> "tuple[pd.DataFrame, LeftOut]":
    """Return labelled texts and the rows left out; `classes` are the classifier's class names."""
    from biaslab.text.labelled import LeftOut, read_labelled

    left_out = LeftOut()
    table = read_labelled(
        data,
        columns.text,
        columns.label,
        group,
        columns.positive,
        negative=columns.negative,
        classes=classes,
        left_out=left_out,
    )
    return table, left_out


def _contexts(
    explaining: Explaining, model: Path, classifier: "FolderClassifier"
) -> "tuple[ContextSettings, BiGRU | None]":
    """Return the context settings and the language model that samples contexts; OC without one."""
    from biaslab.hate_speech.contexts import OC, ContextSettings
    from biaslab.hate_speech.own_training import LANGUAGE_MODEL
    from biaslab.text.language_model import BiGRU

    if explaining.radius == 0:
        return OC, None
    file = explaining.language_model
    if file is None and (model / LANGUAGE_MODEL).is_file():
        file = model / LANGUAGE_MODEL
    if file is None:
        line = (
            "there is no language model, so contexts are not sampled: occlusion (OC, radius 0) instead of SOC"
        )
        typer.echo(f"biaslab: {line}", err=True)
        return OC, None
    language_model = BiGRU.load(file).to(classifier.model.device)
    return ContextSettings(explaining.radius, explaining.samples), language_model


@contextmanager
def _bars() -> Iterator[Callable[[str, int, int], None]]:
    """Yield a function that shows progress on a terminal: one bar with the remaining time for each task."""
    from tqdm import tqdm

    name, bar = "", tqdm(disable=True)

    def show(what: str, done: int, n: int) -> None:
        nonlocal name, bar
        if what != name:
            bar.close()
            name, bar = what, tqdm(total=n, initial=done, desc=what, unit="", disable=None)
        bar.update(done - bar.n)

    try:
        yield show
    finally:
        bar.close()
