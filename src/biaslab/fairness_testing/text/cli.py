"""``biaslab fairness-testing audit-texts``: users' own texts and classifiers."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from biaslab.core.errors import InputError
from biaslab.fairness_testing.settings import Campaign
from biaslab.run.commands.masking import Masking
from biaslab.run.commands.options import grouped
from biaslab.run.commands.outputs import To
from biaslab.run.extras import missing_extra
from biaslab.text import settings

_TRAINED = {"train-lstm": "lstm", "train-gru": "gru"}
CAMPAIGN = Campaign(seeds=200, hops=20)


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
    from biaslab.fairness_testing.text.adapters import load_model, reads_vectors
    from biaslab.fairness_testing.text.campaign import audit_feature
    from biaslab.fairness_testing.text.strategies import find_strategy
    from biaslab.fairness_testing.text.terms import read_terms
    from biaslab.text.masking import masker

    set_threads(threads)
    strategy = find_strategy(tester)
    mask = masker(masking.digests(settings.Masking.masked_words))
    needs_vectors = f"{model}: this model reads vectors of words; name them with --vectors"
    if vectors is None and (model in _TRAINED or model.endswith(".npz")):
        raise InputError(f"--model {needs_vectors}")
    if vectors is None and tester != "rp":
        raise InputError(
            f"--tester {tester}: this method needs near words; name vectors of words with --vectors, or set"
            " --tester rp, which needs no vectors"
        )
    texts, labels, changes = own_texts.read(data, *vars(columns).values(), model in _TRAINED)
    features = own_texts.choose_features(read_terms(terms), feature or [], texts, str(data))
    notes: list[str] = []
    if vectors is None:
        own = own_texts.prepare(texts, *own_texts.drawn_vectors(texts, campaign.seed), features, candidates)
    else:
        own = own_texts.prepare(texts, *read_embedding(vectors, say=notes.append), features, candidates)
    labels = labels[own.rows]
    facts = [own.describe(vectors is not None), *changes, *notes]
    if model in _TRAINED:
        typer.echo("training a network ...", err=True)
        file, kind = out / "network.npz", _TRAINED[model]
        classifier, trained = own_texts.train(kind, own, labels.astype("int64"), epochs, campaign.seed, file)
        facts.append(trained)
    else:
        if Path(model).is_dir():  # only a folder needs torch
            if reason := missing_extra("neural"):
                raise InputError(f"{model}: {reason}")
            from biaslab.text.devices import make_deterministic

            make_deterministic(threads)
        classifier = load_model(model, own.lexicon, device, columns.positive)
        if "torch" in sys.modules:
            sys.modules["torch"].set_num_threads(threads)
    if reads_vectors(classifier):
        if vectors is None:
            raise InputError(needs_vectors)
        facts += own_texts.describe_unknown(own, features)
    if model not in _TRAINED:
        facts.append(own_texts.describe_accuracy(classifier, own, labels))
    facts += own_texts.describe_reading(classifier, own)
    results = [audit_feature(classifier, own, *item, strategy, campaign) for item in features.items()]
    title = f"{data.name} by {Path(model).name}"
    summary.write(out, title, results, mask)
    summary.show(title, facts, results, mask)
