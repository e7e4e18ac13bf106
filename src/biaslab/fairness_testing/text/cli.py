"""``biaslab fairness-testing audit-texts``: users' own texts and classifiers."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biaslab.core.errors import InputError
from biaslab.fairness_testing.settings import Campaign
from biaslab.run.extras import missing_extra
from biaslab.run.masking import Masking
from biaslab.run.options import grouped
from biaslab.run.outputs import To
from biaslab.text import settings

if TYPE_CHECKING:
    import numpy as np

    from biaslab.fairness_testing.text.own_texts import OwnTexts
    from biaslab.fairness_testing.text.strategies import Strategy
    from biaslab.fairness_testing.text.summary import FeatureResult
    from biaslab.text.models import TextModel

_TRAINED = {"train-lstm": "lstm", "train-gru": "gru"}
CAMPAIGN = Campaign(seeds=200, hops=20)
_VALIDATION_SHARE = 0.2
_LABELLED = 1000  # first texts, used to check accuracy and whether all have one label


@dataclass(frozen=True)
class Columns:
    """Columns of a table of texts."""

    text_column: Annotated[str, typer.Option(help="Column of the text.")] = "text"
    label_column: Annotated[str, typer.Option(help="Column of the label, to train a network.")] = "label"
    positive: Annotated[
        str | None,
        typer.Option(help="Positive label of the texts or of the classifier; by default, 1."),
    ] = None


@grouped
def audit_texts(
    data: Annotated[Path, typer.Argument(help="Texts (.csv, .tsv, .jsonl, or .txt with one text per line).")],
    model: Annotated[
        str,
        typer.Option(
            help="Classifier: a network (.npz); the folder of a BERT with its classifier; MODULE:NAME of"
            " a torch module of words' vectors, of an object with probabilities(texts) and"
            " gradients(texts, labels), or of a scikit-learn pipeline, here or installed; or train-lstm or"
            " train-gru, on the labels of the texts."
        ),
    ],
    terms: Annotated[
        Path, typer.Option(help="Sensitive words by feature (.csv, .yaml, or .txt with one word per line).")
    ],
    out: Annotated[
        Path,
        typer.Option(
            help="Folder for found.html, words.tsv, summary.tsv and found.jsonl, which contains all words"
            " unmasked."
        ),
        To.FOLDER,
    ],
    columns: Columns,
    masking: Masking,
    vectors: Annotated[
        Path | None,
        typer.Option(
            help="Vectors of words (GloVe or word2vec), the most frequent words first, to find near words."
            " Without vectors, --tester rp replaces words by any other words of the texts."
        ),
    ] = None,
    tester: Annotated[
        str, typer.Option(help="Search method: adf_asc, adf_hf, asc, hf, or rp, which needs no gradients.")
    ] = "adf_asc",
    campaign: Campaign = CAMPAIGN,
    feature: Annotated[
        list[str] | None,
        typer.Option(
            help="Feature of the file; repeat the option for several. By default, all features in the texts."
        ),
    ] = None,
    candidates: Annotated[
        int,
        typer.Option(
            help="Number of first words of the vectors that may replace others, in addition to the"
            " words of the"
            " texts.",
            min=1,
        ),
    ] = 30_000,
    epochs: Annotated[int, typer.Option(help="Passes over the texts, to train a network.", min=1)] = 20,
    threads: Annotated[
        int,
        typer.Option(
            help="Number of threads; with torch, another number changes results by rounding.", min=1
        ),
    ] = 1,
    device: Annotated[str, typer.Option(help="Device of a BERT: auto, cpu or cuda.")] = "auto",
) -> None:
    """Search a classifier of texts for discriminatory texts and the words that change its label."""
    from biaslab.core.jit import set_threads
    from biaslab.embeddings.formats import read_embedding
    from biaslab.fairness_testing.text import own_texts, summary
    from biaslab.fairness_testing.text.adapters import reads_vectors
    from biaslab.fairness_testing.text.strategies import find_strategy
    from biaslab.fairness_testing.text.terms import read_terms
    from biaslab.text.masking import masker

    set_threads(threads)
    strategy = find_strategy(tester)
    mask = masker(masking.digests(settings.Masking.masked_words))
    if vectors is None:
        _check_needless(model, tester)
    texts, labels, changes = _read(data, columns, model in _TRAINED)
    features = own_texts.choose_features(read_terms(terms), feature or [], texts, str(data))
    notes: list[str] = []
    if vectors is None:
        own = own_texts.prepare(texts, *own_texts.drawn_vectors(texts, campaign.seed), features, candidates)
    else:
        own = own_texts.prepare(texts, *read_embedding(vectors, say=notes.append), features, candidates)
    facts = [_words_read(own, vectors is not None), *changes, *notes]
    if model in _TRAINED:
        classifier, trained = _train(_TRAINED[model], own, labels, epochs, campaign.seed, out)
        facts.append(trained)
    else:
        classifier = _load(model, own, device, threads, columns.positive)
    if reads_vectors(classifier):
        if vectors is None:
            raise InputError(f"{model}: this model reads vectors of words; name them with --vectors")
        facts += _alike(own, features)
    if model not in _TRAINED:
        facts.append(_accuracy(classifier, own, labels))
    facts += [_reading(classifier, own), *_one_label(classifier, own)]
    results = [_test(classifier, own, name, values, strategy, campaign) for name, values in features.items()]
    title = f"{data.name} by {Path(model).name}"
    summary.write(out, title, results, mask)
    summary.show(title, facts, results, mask)


def _read(data: Path, columns: Columns, is_labelled: bool) -> "tuple[list[str], np.ndarray, list[str]]":
    """Return the texts, their labels (NaN if missing), and changes or omissions.

    A network is trained only on labelled texts.
    """
    import numpy as np

    from biaslab.text.labelled import LeftOut, read_labelled, read_texts

    names = (columns.text_column, columns.label_column, None, columns.positive)
    left_out = LeftOut()
    if is_labelled:
        table = read_labelled(data, *names, left_out=left_out)
        labels = table["label"].to_numpy()
    else:
        table = read_texts(data, columns.text_column, left_out)
        try:
            classes = [columns.positive] if columns.positive else []
            of_labels = LeftOut()
            labelled = read_labelled(data, *names, classes=classes, left_out=of_labels)
            left_out.changes.extend(of_labels.changes)
            labels = labelled.set_index("row")["label"].reindex(table["row"]).to_numpy(np.float64)
        except InputError:
            labels = np.full(len(table), np.nan)
    sentence = left_out.sentence(data)
    return list(table["text"]), labels, ([sentence] if sentence else []) + left_out.changes


def _check_needless(model: str, tester: str) -> None:
    """Refuse options that require vectors before anything is read or trained."""
    if model in _TRAINED or model.endswith(".npz"):
        raise InputError(f"--model {model}: this model reads vectors of words; name them with --vectors")
    if tester != "rp":
        raise InputError(
            f"--tester {tester}: this method needs near words; name vectors of words with --vectors, or set"
            " --tester rp, which needs no vectors"
        )


def _words_read(own: "OwnTexts", has_vectors: bool) -> str:
    n = len(own.texts)
    left_out = f" ({own.n_wordless:,} without words omitted)" if own.n_wordless else ""
    near = (
        f"{own.known_share:.1%} of the words have a vector of their own"
        if has_vectors
        else "without vectors, any other word of the texts can replace a word"
    )
    return f"{n:,} texts{left_out} of {own.texts.lengths.mean():.1f} words on average; {near}"


def _alike(own: "OwnTexts", features: dict[str, tuple[str, ...]]) -> list[str]:
    """Name the features with values that share the mean vector."""
    facts = []
    for name, values in features.items():
        n = sum(not own.lexicon.is_known[own.lexicon.ids[value]] for value in values)
        if n:
            facts.append(
                f"{name}: {n} of {len(values)} values have no vector of their own; a network that reads these"
                " vectors cannot distinguish these values"
            )
    return facts


def _accuracy(classifier: "TextModel", own: "OwnTexts", labels: "np.ndarray") -> str:
    """Describe the accuracy of a classifier, and of always giving the more frequent label."""
    from biaslab.fairness_testing.text.corpus import Labelled
    from biaslab.fairness_testing.text.experiment import measure_quality

    y = labels[own.rows]
    first = (y == y).nonzero()[0][:_LABELLED]  # NaN is no label
    if not len(first):
        return "how often the classifier is right is not known: the texts have no labels of two classes"
    labelled = Labelled(own.texts.take(first), y[first].astype("int64"))
    quality = measure_quality(classifier, labelled)
    share, majority = quality["accuracy"], quality["majority"]
    doubt = "; no better than that: check --positive and the reading below" if share <= majority else ""
    return (
        f"the classifier labels {share:.1%} of {len(first):,} texts as the data do ({majority:.1%} have"
        f" the more frequent label{doubt})"
    )


def _reading(classifier: "TextModel", own: "OwnTexts") -> str:
    """Describe how a classifier reads texts, and how many texts it reads completely."""
    reading = getattr(classifier, "reading", "positive is label 1")
    lengths = getattr(classifier, "lengths", None)
    cut = f" {lengths(own.texts).sentence()}" if lengths else ""
    return f"how texts are read: {reading}; words in lower case, without punctuation.{cut}"


def _one_label(classifier: "TextModel", own: "OwnTexts") -> list[str]:
    """Warn if a classifier gives all texts the same label, so that a search without finds is no evidence."""
    first = own.texts.take(range(min(len(own.texts), _LABELLED)))
    labels = set(classifier.probabilities(first).argmax(axis=1).tolist())
    return [f"no all-clear: the classifier gives the label {min(labels)} to all texts"] * (len(labels) == 1)


def _load(model: str, own: "OwnTexts", device: str, threads: int, positive: str | None) -> "TextModel":
    """Return the classifier named by an argument; only a folder needs torch."""
    from biaslab.fairness_testing.text.adapters import load_model

    if Path(model).is_dir():
        if reason := missing_extra("neural"):
            raise InputError(f"{model}: {reason}")
        from biaslab.text.devices import make_deterministic

        make_deterministic(threads)
    classifier = load_model(model, own.lexicon, device, positive)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)
    return classifier


def _train(
    kind: str, own: "OwnTexts", labels: "np.ndarray", epochs: int, seed: int, out: Path
) -> "tuple[TextModel, str]":
    """Train a network on most texts, save it in the folder, and describe its accuracy on the rest."""
    from biaslab.core.rng import stream
    from biaslab.fairness_testing.text.corpus import Labelled
    from biaslab.fairness_testing.text.experiment import measure_quality
    from biaslab.text.recurrent import initial_recurrent
    from biaslab.text.recurrent_training import TrainingSettings, train_recurrent
    from biaslab.text.splits import split_shares

    typer.echo("training a network ...", err=True)
    y = labels[own.rows].astype("int64")
    shares = (1 - _VALIDATION_SHARE, _VALIDATION_SHARE)
    learnt, held_out = split_shares(y, shares, stream(seed, "validation texts"))
    negative_weight = min(1.0, y[learnt].sum() / max(1, (1 - y[learnt]).sum()))
    validation = Labelled(own.texts.take(held_out), y[held_out])
    network, _ = train_recurrent(
        initial_recurrent(kind, own.lexicon.vectors, seed),
        own.texts.take(learnt),
        y[learnt],
        TrainingSettings(epochs=epochs, negative_weight=float(negative_weight)),
        seed,
        validation,
    )
    network.save(out / "network.npz")
    quality = measure_quality(network, validation)
    return network, (
        f"the network labels {quality['accuracy']:.1%} of {len(held_out):,} texts that it was not trained on"
        f" as the data do ({quality['majority']:.1%} have the more frequent label); it is in"
        f" {out / 'network.npz'}"
    )


def _test(
    classifier: "TextModel",
    own: "OwnTexts",
    feature: str,
    values: tuple[str, ...],
    strategy: "Strategy",
    campaign: Campaign,
) -> "FeatureResult":
    from biaslab.fairness_testing.text.campaign import (
        found_pairs,
        search,
        subject_of,
        summarize,
        term_table,
    )
    from biaslab.fairness_testing.text.summary import FeatureResult

    subject = subject_of(classifier, own.lexicon, values)
    outcome = search(subject, own.texts, strategy, campaign, feature)
    pairs = found_pairs(subject, own, outcome, feature)
    row = summarize(outcome, strategy, len(pairs))
    return FeatureResult(feature, row, pairs, term_table(subject, own, outcome))
