"""Commands of ``biaslab ranking``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from biaslab.core.values import EXACT_HELP, EXACT_OPTION
from biaslab.run.commands.options import AnswerOut, grouped
from biaslab.run.commands.outputs import To

app = typer.Typer(
    help="Audit and re-rank lists against a desired distribution of attribute values.", no_args_is_help=True
)


@dataclass(frozen=True)
class ColumnNames:
    """The columns of a file of lists, except score and rank; fields as of `lists.Columns`."""

    attributes: Annotated[
        list[str],
        typer.Option(
            "--attribute",
            help="Column of the attribute; values of several attributes are joined: female|senior.",
        ),
    ]
    query: Annotated[
        str | None,
        typer.Option(help="Column with the list of each candidate; by default, the file is one list."),
    ] = None
    qualified: Annotated[
        str | None,
        typer.Option(help="Column with the qualification of candidates: 1, true, yes or 0, false, no."),
    ] = None
    unknown: Annotated[
        list[str] | None,
        typer.Option(
            help="Marker of an unknown attribute value ('' for empty fields; repeat the option for"
            " several markers). Such candidates keep their places, and shares exclude them."
        ),
    ] = None
    exact: Annotated[bool, typer.Option(EXACT_OPTION, help=EXACT_HELP)] = False


Candidates = Annotated[
    Path,
    typer.Argument(
        help="Table with a header and one candidate per line (.csv, .tsv, .parquet), grouped by list."
    ),
]
Desired = Annotated[
    str,
    typer.Option(
        help="Desired distribution: uniform over the values of a list, observed (shares among its"
        " candidates),"
        " equal-opportunity (among its qualified candidates), demographic-parity (among all candidates of"
        " the file), or a file: a .csv or .tsv table with the columns value and share, or .yaml lines"
        " 'value: share'; the shares (numbers or fractions) sum to 1 within 1e-6."
    ),
]


@app.command("audit")
@grouped
def audit(
    candidates: Candidates,
    columns: ColumnNames,
    top: Annotated[
        int, typer.Option(help="Places of each list that count as its top; shorter lists count entirely.")
    ],
    score: Annotated[
        str | None,
        typer.Option(
            help="Column of the score, higher is better; required for re-ranking and its cost in NDCG."
        ),
    ] = None,
    rank: Annotated[
        str | None,
        typer.Option(
            help="Column of the place, lower is better; by default, order by score, or else as in the file."
        ),
    ] = None,
    desired: Desired = "observed",
    algorithm: Annotated[
        str, typer.Option(help="Re-ranking algorithm: as for rerank, except fa_ir.")
    ] = "det_const_sort",
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="GROUP",
            help="Reference value for all others, chosen before you look at the rates; by default,"
            " the value with the highest selection rate.",
        ),
    ] = None,
    out: AnswerOut = Path("ranking-audit"),
) -> None:
    """Audit the places of each group in rankings before and after re-ranking, as lines and a page."""
    from biaslab.answers import check_answer, write_answer
    from biaslab.ranking.auditing import audit_file
    from biaslab.ranking.lists import Columns, ListFile
    from biaslab.ranking.report.audited import answer

    check_answer(out)
    source = ListFile(candidates, Columns(score, rank=rank, **vars(columns)))
    result = audit_file(source, desired, top, algorithm, reference)
    typer.echo(write_answer(answer(result, source, desired, top, algorithm), out))


@app.command("rerank")
@grouped
def rerank(
    candidates: Candidates,
    columns: ColumnNames,
    score: Annotated[str, typer.Option(help="Column of the score; higher is better.")],
    desired: Desired,
    top: Annotated[int, typer.Option(help="Places of each list to fill; shorter lists are ranked entirely.")],
    out: Annotated[
        Path,
        typer.Option(
            help="Output file of the re-ranked top (.csv, .tsv, .parquet), with the columns rank and"
            " old_rank."
        ),
        To.FILE,
    ],
    algorithm: Annotated[
        str,
        typer.Option(
            help="Re-ranking algorithm: det_greedy, det_cons, det_relaxed, det_const_sort, fa_ir or"
            " score_only."
        ),
    ] = "det_const_sort",
    protected: Annotated[
        str | None, typer.Option(help="fa_ir: the value with a minimum number of places.")
    ] = None,
    alpha: Annotated[
        float, typer.Option(help="fa_ir: significance level of the test for too few places.")
    ] = 0.1,
) -> None:
    """Re-rank your own lists."""
    from biaslab.ranking.lists import Columns, ListFile
    from biaslab.ranking.pools import Settings
    from biaslab.ranking.reranking import describe_exhausted, rerank_file

    source = ListFile(candidates, Columns(score, **vars(columns)))
    n_exhausted = rerank_file(source, out, desired, top, algorithm, Settings(protected, alpha))
    typer.echo(f"{out}: the top {top} of {len(n_exhausted):,} list{'s' if len(n_exhausted) > 1 else ''}")
    if line := describe_exhausted(source.lists.queries, n_exhausted):
        typer.echo(f"biaslab: {line}", err=True)
