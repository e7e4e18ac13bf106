"""Commands of ``biaslab origins``."""

from pathlib import Path
from typing import Annotated

import typer

from biaslab.cli.options import Out, Seed

Setups = Annotated[list[str], typer.Option(help="NAME=FOLDER of a setup's results; repeat it for several.")]
Config = Annotated[Path, typer.Option(help="The configuration of the run (.json or .yaml).")]
WordSetFiles = Annotated[
    list[Path], typer.Option(help="Word sets of a test (.yaml); repeat it for several tests.")
]
OutDir = Annotated[Path, typer.Option(help="The results folder of the area, e.g. results/origins.")]

app = typer.Typer(help="Origins of bias in word embeddings (Brunet et al. 2019).", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Keep the verbs as sub-commands, even while there is only one."""


@app.command("measure-baseline")
def measure_baseline(
    batches: Annotated[list[Path], typer.Argument(help="Batch files of the baseline embeddings (.npz).")],
    vocabulary: Annotated[Path, typer.Option(help="The vocabulary of the embeddings (.tsv).")],
    weat: Annotated[
        list[Path], typer.Option(help="Word sets of a test (.yaml); repeat it for several tests.")
    ],
    seed: Seed,
    out: Out,
    permutations: Annotated[
        int,
        typer.Option(
            help="Up to this many partitions p is exact, beyond it is estimated from as many.", min=1
        ),
    ] = 100_000,
) -> None:
    """Measure the bias of every baseline embedding, with p-values and the words the vocabulary lacks."""
    from biaslab.bias.word_sets import read_word_sets
    from biaslab.core.io import write_tsv
    from biaslab.embeddings.vocabulary import read_vocabulary
    from biaslab.origins.baseline import measure

    tests = [read_word_sets(path) for path in weat]
    write_tsv(out, measure(batches, read_vocabulary(vocabulary), tests, permutations, seed))


@app.command("measure-sets")
def measure_sets(
    batches: Annotated[list[Path], typer.Argument(help="Batch files of all retrained embeddings (.npz).")],
    vocabulary: Annotated[Path, typer.Option(help="The vocabulary of the embeddings (.tsv).")],
    weat: Annotated[
        list[Path], typer.Option(help="Word sets of a test (.yaml); repeat it for several tests.")
    ],
    out: Out,
) -> None:
    """Measure the bias of every embedding retrained without a perturbation set."""
    from biaslab.bias.word_sets import read_word_sets
    from biaslab.core.io import write_tsv
    from biaslab.embeddings.vocabulary import read_vocabulary
    from biaslab.origins.baseline import measure_sets

    tests = [read_word_sets(path) for path in weat]
    write_tsv(out, measure_sets(batches, read_vocabulary(vocabulary), tests))


@app.command("tables")
def tables(setup: Setups, config: Config, weat: WordSetFiles, out_dir: OutDir) -> None:
    """Write the paper's tables, the tests and the metadata of some setups (.tsv, .md, .tex)."""
    from biaslab.bias.word_sets import read_word_sets
    from biaslab.origins.results import read_setups
    from biaslab.origins.tables import write_tables

    word_sets = {sets.name: sets for sets in map(read_word_sets, weat)}
    write_tables(read_setups(setup, config), word_sets, out_dir)


@app.command("figures")
def figures(setup: Setups, config: Config, weat: WordSetFiles, out_dir: OutDir) -> None:
    """Draw the paper's figures, the losses and the metadata of some setups (.svg, .pdf, .png, .tsv)."""
    from biaslab.bias.word_sets import read_word_sets
    from biaslab.origins.figures import write_figures
    from biaslab.origins.results import read_setups

    word_sets = {sets.name: sets for sets in map(read_word_sets, weat)}
    write_figures(read_setups(setup, config), word_sets, out_dir)
