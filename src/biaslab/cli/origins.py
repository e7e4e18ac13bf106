"""Commands of ``biaslab origins``."""

from pathlib import Path
from typing import Annotated

import typer

from biaslab.cli.options import Out, Seed

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
