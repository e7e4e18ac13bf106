"""Commands of ``biaslab fairness-testing experiment``: the steps of the workflow on one classifier."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biaslab.cli.options import Seed, Threads

if TYPE_CHECKING:
    import pandas as pd

app = typer.Typer(help="The experiment on one classifier, step by step.", no_args_is_help=True)

Results = Annotated[Path, typer.Argument(help="The folder of the classifier, named like it.")]
Schema = Annotated[Path, typer.Option(help="What the columns of the data mean (.yaml).")]
Bounds = Annotated[
    Path | None,
    typer.Option(help="Schema whose bounds the mode published takes for the protected attributes."),
]
Hops = Annotated[int, typer.Option(help="Steps of a walk of the local phase.", min=1)]
Repetitions = Annotated[int, typer.Option(help="Searches with other random numbers.", min=2)]
Explanations = Annotated[
    int, typer.Option(help="Samples that symbolic generation explains in a search.", min=1)
]
Uniform = Annotated[int, typer.Option(help="Uniform samples of the domain.", min=100)]


@app.command("prepare")
def prepare(
    data: Annotated[Path, typer.Argument(help="The table of samples.")],
    schema: Schema,
    results: Annotated[Path, typer.Option(help="The folder of the classifier, named like it.")],
    seeds: Annotated[int, typer.Option(help="Rows that searches start from.", min=1)],
    training_epochs: Annotated[int, typer.Option(help="Passes over the data, to train a network.", min=1)],
    seed: Seed,
    network: Annotated[
        Path | None, typer.Option(help="Weights (.npz); without, a network is trained.")
    ] = None,
    clusters: Annotated[
        Path | None, typer.Option(help="The cluster of each row; without, the rows are clustered.")
    ] = None,
) -> None:
    """Encode data, choose seeds, and read or train a network: network.npz, data.npz, classifiers.tsv."""
    from biaslab.fairness_testing import cases

    options = {"n_seeds": seeds, "epochs": training_epochs, "seed": seed, "network": network}
    cases.prepare(results, data, schema, clusters=clusters, **options)


@app.command("search")
def search(
    results: Results,
    schema: Schema,
    hops: Hops,
    repetitions: Repetitions,
    explanations: Explanations,
    uniform_samples: Uniform,
    seed: Seed,
    threads: Threads,
    published_bounds: Bounds = None,
) -> None:
    """Let all testers search: counts, curves, fairness, pairs (.tsv) and found.npz."""
    from biaslab.core.io import write_npz
    from biaslab.core.jit import set_threads
    from biaslab.fairness_testing import experiment as science
    from biaslab.fairness_testing.cases import load_cases
    from biaslab.fairness_testing.schema import load_schema

    set_threads(threads)
    effort = science.Effort(hops, repetitions, explanations, uniform_samples, 0, seed)
    tables, found = [], {}
    for case in load_cases(results, schema, published_bounds):
        counts, curves, samples = science.count_finds(case, effort)
        fairness = science.estimate_fairness(case, effort)
        pairs = science.show_pairs(case, load_schema(schema), samples)
        tables.append({"counts": counts, "curves": curves, "fairness": fairness, "pairs": pairs})
        found |= {f"{case.attribute}:{tester}": X for tester, X in samples.items()}
    for name in tables[0]:
        _write(results, name, [of_case[name] for of_case in tables])
    write_npz(results / "found.npz", **found)


@app.command("local")
def local(
    results: Results,
    schema: Schema,
    hops: Hops,
    repetitions: Repetitions,
    explanations: Explanations,
    local_seeds: Annotated[int, typer.Option(help="Discriminatory rows that all testers start from.", min=1)],
    seed: Seed,
    threads: Threads,
    published_bounds: Bounds = None,
) -> None:
    """Compare the local phases of all testers from the same seeds: local.tsv."""
    from biaslab.core.jit import set_threads
    from biaslab.fairness_testing import experiment as science
    from biaslab.fairness_testing.cases import load_cases

    set_threads(threads)
    effort = science.Effort(hops, repetitions, explanations, 0, local_seeds, seed)
    cases = load_cases(results, schema, published_bounds)
    _write(results, "local", [science.compare_local(case, effort) for case in cases])


@app.command("ablate")
def ablate(
    results: Results,
    schema: Schema,
    ablation_hops: Hops,
    repetitions: Repetitions,
    seed: Seed,
    threads: Threads,
    published_bounds: Bounds = None,
) -> None:
    """Repair the quirks of the published code of ADF one at a time: ablation.tsv."""
    from biaslab.core.jit import set_threads
    from biaslab.fairness_testing import experiment as science
    from biaslab.fairness_testing.cases import load_cases

    set_threads(threads)
    effort = science.Effort(ablation_hops, repetitions, 0, 0, 0, seed)
    cases = load_cases(results, schema, published_bounds)
    _write(results, "ablation", [science.ablate(case, effort) for case in cases])


@app.command("retrain")
def retrain(
    results: Results,
    schema: Schema,
    retrainings: Annotated[int, typer.Option(help="Retrainings, each with other samples.", min=2)],
    retraining_share: Annotated[float, typer.Option(help="Share of the found samples to add.", min=0, max=1)],
    uniform_samples: Uniform,
    seed: Seed,
    threads: Threads,
) -> None:
    """Retrain with what each tester found, and measure fairness and accuracy after it: retraining.tsv."""
    from biaslab.core.io import read_npz
    from biaslab.core.jit import set_threads
    from biaslab.fairness_testing import retraining_experiment as science
    from biaslab.fairness_testing.cases import load_cases, load_labels

    set_threads(threads)
    found, y = read_npz(results / "found.npz"), load_labels(results)
    effort = science.Effort(retrainings, retraining_share, uniform_samples, seed)
    cases = load_cases(results, schema)
    _write(results, "retraining", [science.retrain_case(case, y, found, effort) for case in cases])


def tables(
    results: Annotated[Path, typer.Argument(help="The results of the area; tables/ is written there.")],
    claims: Annotated[Path, typer.Option(help="The registry of the area's claims (.tsv).")],
) -> None:
    """Write the tables of all classifiers (.tsv, .md, .tex)."""
    from biaslab.fairness_testing.tables import write_tables

    write_tables(results, claims)


def figures(
    results: Annotated[Path, typer.Argument(help="The results of the area; figures/ is written there.")],
) -> None:
    """Draw the figures of all classifiers (.svg, .pdf, .png, .tsv)."""
    from biaslab.fairness_testing.figures import write_figures

    write_figures(results)


def _write(results: Path, name: str, tables: list["pd.DataFrame"]) -> None:
    """Write the tables of all protected attributes as one."""
    import pandas as pd

    from biaslab.core.io import write_tsv

    write_tsv(results / f"{name}.tsv", pd.concat(tables, ignore_index=True))
