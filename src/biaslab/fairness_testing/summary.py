"""The page that ``biaslab fairness-testing search`` prints."""

from collections.abc import Iterable, Sequence

import pandas as pd
from rich.table import Table
from rich.text import Text

from biaslab.classifiers.encoding import Data
from biaslab.classifiers.schema import Schema
from biaslab.run.commands.terminal import page_console


def show(
    name: str,
    data: Data,
    schema: Schema,
    accuracy: float,
    summary: pd.DataFrame,
    found: pd.DataFrame,
    reading: Sequence[str] = (),
) -> None:
    """Print a summary of the data, the finds, an example, and the fairness of the classifier."""
    console = page_console()
    console.print(Text(name, style="bold"))
    console.print(
        f"{len(data.X):,} rows of {schema.domain.n_attributes} attributes, {data.n_outside:,} with a value"
        f" outside the domain; {data.n_missing:,} left out because a value is missing; the classifier labels"
        f" {accuracy:.1%} as the data do"
    )
    for line in reading:
        console.print(Text(line))
    for row in summary.to_dict("records"):
        share = f" ({row['share']:.1%})" if row["n_samples"] else ""
        counts = f"{row['n_discriminatory']:,} of {row['n_samples']:,} different samples{share}"
        uniform = f"{row['uniform_share']:.2%} [{row['ci_low']:.2%}, {row['ci_high']:.2%}]"
        facts = [
            ("Search", f"{row['tester']}: {row['n_seeds']:,} seeds; {row['n_queries']:,} model queries"),
            ("Discriminatory", counts),
            (
                "In the whole domain",
                f"{uniform} of {row['n_uniform']:,} uniform samples are discriminatory",
            ),
            ("In the data", f"{row['data_share']:.2%} of the rows are discriminatory"),
        ]
        console.print()
        console.print(facts_table("Protected", str(row["protected"]), facts))
        finds = found[found["protected"] == row["protected"]]
        if not len(finds):
            console.print("No discriminatory sample was found.")
            continue
        first = finds.iloc[0]
        protected = first["protected"].split(",")
        own = ", ".join(first[protected])
        console.print(
            f"For example: {first['protected']} {own} gets {first['label']}, but {first['other_value']} gets"
            f" {first['other_label']}, for"
        )
        rest = [f"{name} {first[name]}" for name in schema.domain.names if name not in protected]
        console.print(Text(f"  {'; '.join(rest)}"))


def facts_table(kind: str, name: str, facts: Iterable[tuple[str, str]]) -> Table:
    """Return facts by topic as a table, below the name of the tested classifier."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    table.add_row(Text(kind, style="dim"), Text(name, style="bold"))
    for fact in facts:
        table.add_row(*fact)
    return table
