"""Commands of ``biaslab ranking``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from biaslab.run.options import Out, Seed, Threads, grouped

app = typer.Typer(
    help="Rankings that follow a desired distribution of attribute values.", no_args_is_help=True
)


@dataclass(frozen=True)
class ColumnNames:
    """The columns of a file of lists."""

    score: Annotated[str, typer.Option(help="Column of the score; higher is better.")]
    attribute: Annotated[
        list[str],
        typer.Option(
            help="Column of the attribute; several are crossed, their values joined: female|senior."
        ),
    ]
    query: Annotated[
        str | None,
        typer.Option(help="Column that names the list of each candidate; without it the file is one list."),
    ] = None
    qualified: Annotated[
        str | None, typer.Option(help="Column that tells who is qualified: 1, true, yes or 0, false, no.")
    ] = None


@app.command("simulate")
def simulate(
    attribute_values: Annotated[
        str, typer.Option(help="Numbers of values of the attribute, separated by commas.")
    ],
    distributions: Annotated[int, typer.Option(help="Desired distributions for each of them.", min=2)],
    candidates: Annotated[int, typer.Option(help="Candidates with each value.", min=1)],
    top: Annotated[int, typer.Option(help="Length of the rankings, at most the candidates.", min=1)],
    seed: Seed,
    threads: Threads,
    measures: Annotated[Path, typer.Option(help="Where the means of the measures go (.tsv).")],
    feasibility: Annotated[Path, typer.Option(help="Where the shares of infeasible lists go (.tsv).")],
    differences: Annotated[Path, typer.Option(help="Where the differences of the algorithms go (.tsv).")],
) -> None:
    """Rank random lists for random desired distributions by every algorithm, and measure the rankings."""
    from biaslab.core.io import write_tsv
    from biaslab.ranking import simulation

    sizes = simulation.parse_sizes(attribute_values)
    results = simulation.simulate(sizes, distributions, candidates, top, seed, threads)
    for path, table in zip((measures, feasibility, differences), results, strict=True):
        write_tsv(path, table)


@app.command("counterexamples")
def counterexamples(
    summary: Annotated[
        Path, typer.Option(help="Where the numbers of distributions searched and violated go (.tsv).")
    ],
    out: Out,
    values: Annotated[int, typer.Option(help="Most values of the attribute to search.", min=2)] = 6,
    denominator: Annotated[int, typer.Option(help="Greatest denominator of the shares.", min=2)] = 18,
    sort_values: Annotated[int, typer.Option(help="The same for DetConstSort.", min=2)] = 4,
    sort_denominator: Annotated[int, typer.Option(help="The same for DetConstSort.", min=2)] = 12,
) -> None:
    """Search all small distributions and all orders of scores for infeasible rankings; print the smallest."""
    import pandas as pd

    from biaslab.core.io import write_tsv
    from biaslab.ranking import feasibility

    limits = dict.fromkeys(feasibility.FAIR, (values, denominator))
    limits["det_const_sort"] = sort_values, sort_denominator
    searched = [feasibility.search_all(name, *limit) for name, limit in limits.items()]
    counts, found = (pd.concat(tables, ignore_index=True) for tables in zip(*searched, strict=True))
    write_tsv(summary, counts)
    write_tsv(out, found)
    if len(found):
        typer.echo(feasibility.describe(found.iloc[0]))


@app.command("rerank")
@grouped
def rerank(
    candidates: Annotated[
        Path,
        typer.Argument(
            help="Table with a header and one candidate a line (.csv, .tsv, .parquet); lists side by side."
        ),
    ],
    columns: ColumnNames,
    desired: Annotated[
        str,
        typer.Option(
            help="uniform over the values of a list, observed (shares among its candidates),"
            " equal-opportunity (among its qualified ones), demographic-parity (among all candidates of"
            " the file), or a file: a .csv or .tsv table with the columns value and share, or .yaml lines"
            " 'value: share'; the shares (numbers or fractions) sum to 1 within 1e-6.",
        ),
    ],
    top: Annotated[int, typer.Option(help="Places of each list to fill; shorter lists are ranked whole.")],
    out: Annotated[
        Path,
        typer.Option(
            help="Where the re-ranked top goes (.csv, .tsv, .parquet), with the columns rank and old_rank."
        ),
    ],
    algorithm: Annotated[
        str, typer.Option(help="det_greedy, det_cons, det_relaxed, det_const_sort or score_only.")
    ] = "det_const_sort",
    measures: Annotated[
        Path | None, typer.Option(help="Where the measures before and after go, means first (.tsv).")
    ] = None,
    figure: Annotated[
        Path | None, typer.Option(help="Where the figure goes, without suffix (.svg, .pdf, .png, .tsv).")
    ] = None,
) -> None:
    """Re-rank your own lists, and measure them before and after; the file is read as a stream."""
    from biaslab.core.io import write_tsv
    from biaslab.ranking.lists import Columns, ListFile
    from biaslab.ranking.report import lists as list_report
    from biaslab.ranking.reranking import rerank_file

    source = ListFile(
        candidates, Columns(columns.score, tuple(columns.attribute), columns.query, columns.qualified)
    )
    measured = rerank_file(source, out, desired, top, algorithm)
    if measures is not None:
        write_tsv(measures, list_report.measure_table(measured))
    if figure is not None:
        list_report.write_figure(measured, figure)
    typer.echo(list_report.summary(measured))
    if warning := list_report.exhausted_line(measured):
        typer.echo(f"biaslab: {warning}", err=True)
