"""Commands of ``biaslab fairness-testing``."""

from pathlib import Path
from typing import Annotated

import typer

from biaslab.core.errors import InputError
from biaslab.core.settings import SEED
from biaslab.core.values import EXACT_HELP, EXACT_OPTION
from biaslab.fairness_testing.settings import Campaign, Section
from biaslab.fairness_testing.text.cli import audit_texts
from biaslab.run.commands.options import AnswerOut, Seed, Threads, grouped, option
from biaslab.run.commands.outputs import To

app = typer.Typer(help="Test whether a classifier depends on a protected attribute.", no_args_is_help=True)

app.command("audit-texts")(audit_texts)

CAMPAIGN = Campaign(seeds=1000, hops=100)
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
    from biaslab.classifiers.encoding import read_table
    from biaslab.classifiers.schema import load_schema
    from biaslab.core.jit import set_threads
    from biaslab.fairness_testing import auditing
    from biaslab.fairness_testing.report.audited import answer

    check_answer(out)
    set_threads(threads)
    described = load_schema(schema)
    groups = auditing.protected_sets(protected, described)
    if reference is not None and len(groups) > 1:
        raise InputError("--reference needs a single protected attribute; name it with --protected")
    if not exact:
        auditing.check_groups(described, groups)
    good = auditing.favourable_class(described, favourable)
    table = read_table(data, described)
    classifier = auditing.load_classifier(
        model, table, described, epochs, seed, Path(f"{out}-network"), _warn
    )
    rows = auditing.rows_for(classifier, data, table, described)
    labels = auditing.predict(classifier, table, rows)
    auditing.check(labels, table, described, groups)
    audits = []
    for names in groups:
        subject = auditing.Subject(classifier, described.domain, described.protect(names))
        audits.append(auditing.audit(subject, table, described, good, seed, ",".join(names), rows, reference))
    agreement = float((labels == table.y).mean())
    auditing.check_order(labels, table, data, described, _warn)
    encoded = auditing.encoded_attributes(classifier, described)
    reading = auditing.describe_reading(table, described, groups, rows)
    page = answer(audits, data, table, described, model, described.classes[good], agreement, encoded, reading)
    typer.echo(write_answer(page, out))


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
    campaign: Campaign = CAMPAIGN,
    exact: Annotated[bool, typer.Option(EXACT_OPTION, help=EXACT_HELP)] = False,
    threads: Threads = 1,
    epochs: Epochs = Section.training_epochs,
) -> None:
    """Search a classifier for discriminatory samples."""
    import pandas as pd

    from biaslab.classifiers.encoding import read_table
    from biaslab.classifiers.schema import load_schema
    from biaslab.core.io import write_tsv
    from biaslab.core.jit import set_threads
    from biaslab.fairness_testing import auditing
    from biaslab.fairness_testing.campaign import found_pairs, search, summarize
    from biaslab.fairness_testing.summary import show
    from biaslab.fairness_testing.testers.registry import find_tester

    set_threads(threads)
    searcher = find_tester(tester)
    described = load_schema(schema)
    groups = auditing.protected_sets(protected, described)
    if not exact:
        auditing.check_groups(described, groups)
    table = read_table(data, described)
    classifier = auditing.load_classifier(model, table, described, epochs, campaign.seed, out, _warn)
    X, labels = table.X, classifier.labels(table.X)
    accuracy = float((labels == table.y).mean())
    rows, pairs_of_groups = [], []
    for names in groups:
        subject, name = (
            auditing.Subject(classifier, described.domain, described.protect(names)),
            ",".join(names),
        )
        outcome = search(subject, X, searcher, campaign)
        rows.append({"protected": name} | summarize(subject, X, searcher, campaign, outcome))
        pairs = found_pairs(subject, outcome, described)
        pairs.insert(0, "protected", name)
        pairs_of_groups.append(pairs)
    samples, summary = pd.concat(pairs_of_groups, ignore_index=True), pd.DataFrame(rows)
    write_tsv(out / "found.tsv", samples)
    write_tsv(out / "summary.tsv", summary)
    reading = auditing.describe_reading(table, described, groups)
    show(str(data), table, described, accuracy, summary, samples, reading)
    caveats = [auditing.no_all_clear(labels, X, described, groups)]
    own_rows = auditing.rows_for(classifier, data, table, described)
    if own_rows is not None:
        n_changed = int((auditing.predict(classifier, table, own_rows) != labels).sum())
        if n_changed:
            caveats.append(
                f"The search rounds numbers as the schema says: {n_changed:,} of {len(X):,} rows get a"
                " different label than with the file's own numbers, so an empty search does not show that the"
                " classifier is fair."
            )
    if any(caveats):
        typer.echo(" ".join(filter(None, caveats)))
    auditing.check_order(labels, table, data, described, _warn)


def _warn(line: str) -> None:
    typer.echo(line, err=True)
