"""Commands of ``biaslab fairness-testing``."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from biaslab.core.errors import InputError
from biaslab.core.settings import SEED
from biaslab.core.values import EXACT_HELP, EXACT_OPTION
from biaslab.fairness_testing.settings import Campaign, Section
from biaslab.run.commands.options import AnswerOut, Masking, Seed, Threads, grouped, option
from biaslab.run.commands.outputs import To
from biaslab.run.extras import missing_extra
from biaslab.text import settings

app = typer.Typer(help="Test whether a classifier depends on a protected attribute.", no_args_is_help=True)

_TRAINED = ("train-lstm", "train-gru")
TEXT_CAMPAIGN = Campaign(seeds=200, hops=20)


@dataclass(frozen=True)
class Columns:
    """Columns of a table of texts."""

    text_column: Annotated[str, typer.Option(help="Column of the text.")] = "text"
    label_column: Annotated[str, typer.Option(help="Column of the label, to train a network.")] = "label"
    positive: Annotated[
        str | None, typer.Option(help="Positive label of the texts or of the classifier; by default, 1.")
    ] = None


@app.command("audit-texts")
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
    campaign: Campaign = TEXT_CAMPAIGN,
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
    from biaslab.fairness_testing.report.finds import show_texts, write_texts
    from biaslab.fairness_testing.text import own_texts
    from biaslab.fairness_testing.text.adapters import load_model, reads_vectors
    from biaslab.fairness_testing.text.corpus import read_terms
    from biaslab.fairness_testing.text.search import find_strategy
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
        file, kind = out / "network.npz", model.removeprefix("train-")
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
    results = [
        own_texts.audit_feature(classifier, own, *item, strategy, campaign) for item in features.items()
    ]
    title = f"{data.name} by {Path(model).name}"
    write_texts(out, title, results, mask)
    show_texts(title, facts, results, mask)


TABLE_CAMPAIGN = Campaign(seeds=1000, hops=100)
Epochs = option(Section, "training_epochs", "--epochs")
ProtectedSets = Annotated[
    list[str] | None,
    typer.Option(
        help="Protected attribute, or several that vary together (age,sex); repeat the option to test others."
        " By default, each protected attribute of the schema."
    ),
]


@app.command("audit")
def audit_table(
    data: Annotated[Path, typer.Argument(help="Table of samples (text).")],
    schema: Annotated[
        Path, typer.Option(help="Schema of the columns (.yaml); see biaslab fairness-testing schema.")
    ],
    model: Annotated[str, typer.Option(help="Classifier, as for biaslab fairness-testing search.")],
    protected: ProtectedSets = None,
    favourable: Annotated[
        str | None, typer.Option(help="Favourable class; by default, the last of two.")
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(help="Reference value for all others; by default, the value with the highest rate."),
    ] = None,
    exact: Annotated[bool, typer.Option(EXACT_OPTION, help=EXACT_HELP)] = False,
    out: AnswerOut = Path("fairness-audit"),
    seed: Seed = SEED,
    threads: Threads = 1,
    epochs: Epochs = Section.training_epochs,
) -> None:
    """Measure which groups a classifier treats differently, how often and how much, as lines and a page."""
    from biaslab.answers import check_answer, write_answer
    from biaslab.classifiers.schema import load_schema
    from biaslab.core.jit import set_threads
    from biaslab.fairness_testing import auditing
    from biaslab.fairness_testing.own_tables import MIN_SAMPLES, OwnTable, favourable_class, protected_sets
    from biaslab.fairness_testing.report.audited import answer

    check_answer(out)
    set_threads(threads)
    described = load_schema(schema)
    groups = protected_sets(protected, described, exact)
    if reference is not None and len(groups) > 1:
        raise InputError("--reference needs a single protected attribute; name it with --protected")
    good = favourable_class(described, favourable)
    own = OwnTable.read(data, described, model, epochs, seed, Path(f"{out}-network"), _warn)
    if reason := own.no_all_clear(own.labels, groups):
        raise InputError(
            f"{reason.rstrip('.')}; give at least {MIN_SAMPLES} rows, with several values and several labels"
        )
    audits = [auditing.audit(own, names, good, seed, reference) for names in groups]
    own.check_order(own.labels, _warn)
    reading = own.describe_reading(groups) + own.describe_usual(groups)
    typer.echo(write_answer(answer(audits, own, model, described.classes[good], reading), out))


@app.command("schema")
def draft_schema(
    data: Annotated[Path, typer.Argument(help="Table of samples (text), with a header.")],
    label: Annotated[str, typer.Option(help="Column that a classifier predicts.")],
    protected: Annotated[
        list[str] | None,
        typer.Option(
            help="Protected attribute; repeat the option for several. By default, columns with known names."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Output file of the schema (.yaml); by default, next to the table."),
        To.FILE,
    ] = None,
) -> None:
    """Draft the schema of a table: types, bounds and values, for you to review."""
    from biaslab.classifiers.drafting import draft
    from biaslab.core.files import write_text

    out = out or data.with_suffix(".yaml")
    if out.exists():
        raise InputError(f"{out}: the file exists; choose another --out")
    drafted = draft(data, label, protected or ())
    write_text(out, drafted.text)
    typer.echo(
        f"{len(drafted.attributes)} attributes ({', '.join(drafted.attributes)}), protected"
        f" {', '.join(drafted.protected)}; {label} is one of {', '.join(drafted.classes)}, the last of which"
        " counts as the good one."
    )
    for name, reason in drafted.left_out.items():
        typer.echo(f"Omitted: {name}, {reason}.")
    for note in drafted.notes:
        typer.echo(note)
    typer.echo(f"Review the draft: {out}")


@app.command("search")
@grouped
def search_table(
    data: Annotated[Path, typer.Argument(help="Table of samples (text).")],
    schema: Annotated[Path, typer.Option(help="Schema of the columns (.yaml).")],
    model: Annotated[
        str,
        typer.Option(
            help="Classifier: a network (.npz); MODULE:NAME of a function that returns probabilities, a"
            " scikit-learn classifier or a torch module, here or installed; or train."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder for found.tsv and summary.tsv."), To.FOLDER],
    protected: ProtectedSets = None,
    tester: Annotated[
        str, typer.Option(help="Search method: adf, eidig-5, eidig-inf, aequitas, symbolic or random.")
    ] = "adf",
    campaign: Campaign = TABLE_CAMPAIGN,
    exact: Annotated[bool, typer.Option(EXACT_OPTION, help=EXACT_HELP)] = False,
    threads: Threads = 1,
    epochs: Epochs = Section.training_epochs,
) -> None:
    """Search a classifier for discriminatory samples."""
    import pandas as pd

    from biaslab.classifiers.schema import load_schema
    from biaslab.core.io import write_tsv
    from biaslab.core.jit import set_threads
    from biaslab.fairness_testing.own_tables import OwnTable, found_pairs, protected_sets, search, summarize
    from biaslab.fairness_testing.report.finds import show_samples
    from biaslab.fairness_testing.testers.registry import find_tester

    set_threads(threads)
    searcher = find_tester(tester)
    described = load_schema(schema)
    groups = protected_sets(protected, described, exact)
    own = OwnTable.read(data, described, model, epochs, campaign.seed, out, _warn)
    X, labels = own.table.X, own.model.labels(own.table.X)
    rows, pairs_of_groups = [], []
    for names in groups:
        subject, name = own.subject(names), ",".join(names)
        outcome = search(subject, X, searcher, campaign)
        rows.append({"protected": name} | summarize(subject, X, searcher, campaign, outcome))
        pairs = found_pairs(subject, outcome, described)
        pairs.insert(0, "protected", name)
        pairs_of_groups.append(pairs)
    samples, summary = pd.concat(pairs_of_groups, ignore_index=True), pd.DataFrame(rows)
    write_tsv(out / "found.tsv", samples)
    write_tsv(out / "summary.tsv", summary)
    show_samples(own, labels, summary, samples, own.describe_reading(groups))
    caveats = [own.no_all_clear(labels, groups)]
    if own.rows is not None and (n_changed := int((own.labels != labels).sum())):
        caveats.append(
            f"The search rounds numbers as the schema says: {n_changed:,} of {len(X):,} rows get a different"
            " label than with the file's own numbers, so an empty search does not show that the classifier"
            " is fair."
        )
    if any(caveats):
        typer.echo(" ".join(filter(None, caveats)))
    own.check_order(labels, _warn)


def _warn(line: str) -> None:
    typer.echo(line, err=True)
