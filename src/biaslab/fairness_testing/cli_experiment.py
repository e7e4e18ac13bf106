"""Commands of ``biaslab fairness-testing experiment``: the steps of the workflow on one classifier."""

from pathlib import Path
from typing import Annotated

import typer

from biaslab.core.errors import InputError
from biaslab.run.options import Seed, Threads

app = typer.Typer(help="The experiment on one classifier, step by step.", no_args_is_help=True)

Results = Annotated[Path, typer.Argument(help="The folder of the classifier, named like it.")]
Schema = Annotated[Path, typer.Option(help="What the columns of the data mean (.yaml).")]
Hops = Annotated[int, typer.Option(help="Steps of a walk of the local phase.", min=1)]
Uniform = Annotated[int, typer.Option(help="Uniform samples of the domain.", min=100)]
Weights = Annotated[Path | None, typer.Option(help="Weights (.npz); without, a network is trained.")]
Clusters = Annotated[
    Path | None, typer.Option(help="The cluster of each row; without, the rows are clustered.")
]

Bounds = Annotated[
    Path | None, typer.Option(help="Schema whose bounds the mode published takes for protected attributes.")
]


@app.command("prepare")
def prepare(
    data: Annotated[Path, typer.Argument(help="The table of samples.")],
    schema: Schema,
    results: Annotated[Path, typer.Option(help="The folder of the classifier, named like it.")],
    seeds: Annotated[int, typer.Option(help="Rows that searches start from.", min=1)],
    training_epochs: Annotated[int, typer.Option(help="Passes over the data, to train a network.", min=1)],
    seed: Seed,
    network: Weights = None,
    clusters: Clusters = None,
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
    ablation_hops: Annotated[int, typer.Option(help="The same, to repair the code quirk by quirk.", min=1)],
    repetitions: Annotated[int, typer.Option(help="Searches with other random numbers.", min=2)],
    explanations: Annotated[int, typer.Option(help="Samples that symbolic generation explains.", min=1)],
    uniform_samples: Uniform,
    local_seeds: Annotated[int, typer.Option(help="Rows on which local phases are compared.", min=1)],
    seed: Seed,
    threads: Threads,
    published_bounds: Bounds = None,
) -> None:
    """Let all testers search: counts, curves, local, ablation, fairness, pairs (.tsv) and found.npz."""
    import pandas as pd

    from biaslab.classifiers.schema import load_schema
    from biaslab.core.io import write_tsv
    from biaslab.core.jit import set_threads
    from biaslab.fairness_testing import experiment as science
    from biaslab.fairness_testing.cases import load_cases
    from biaslab.fairness_testing.found import save_found

    set_threads(threads)
    effort = science.Effort(
        hops, ablation_hops, repetitions, explanations, uniform_samples, local_seeds, seed
    )
    described, searched, found = load_schema(schema), [], {}
    for case in load_cases(results, schema, published_bounds):
        tables, found[case.attribute] = science.search_case(case, described, effort)
        searched.append(tables)
    for name in searched[0]:
        together = pd.concat([tables[name] for tables in searched], ignore_index=True)
        write_tsv(results / f"{name}.tsv", together)
    save_found(results, found)


@app.command("budgets")
def budgets(
    results: Results,
    schema: Schema,
    query_budgets: Annotated[str, typer.Option(help="Model queries, several with commas between.")],
    budget_hops: Annotated[int, typer.Option(help="Steps of a walk.", min=1)],
    repetitions: Annotated[int, typer.Option(help="Searches with other random numbers.", min=2)],
    seed: Seed,
    threads: Threads,
    published_bounds: Bounds = None,
) -> None:
    """Let testers spend equal numbers of queries: budgets.tsv, and suites.tsv of what they found."""
    import pandas as pd

    from biaslab.classifiers.schema import load_schema
    from biaslab.core.io import write_tsv
    from biaslab.core.jit import set_threads
    from biaslab.fairness_testing import budgets as science
    from biaslab.fairness_testing.cases import load_cases

    set_threads(threads)
    queries = tuple(sorted({_budget(text) for text in query_budgets.split(",")}))
    effort = science.Effort(queries, budget_hops, repetitions, seed)
    described = load_schema(schema)
    cases = load_cases(results, schema, published_bounds, together=science.TOGETHER)
    tables = zip(*(science.compare(case, described, effort) for case in cases), strict=True)
    for name, parts in zip(("budgets", "suites"), tables, strict=True):
        write_tsv(results / f"{name}.tsv", pd.concat(parts, ignore_index=True))


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
    import pandas as pd

    from biaslab.core.io import write_tsv
    from biaslab.core.jit import set_threads
    from biaslab.fairness_testing import retraining_experiment as science
    from biaslab.fairness_testing.cases import load_cases, load_labels
    from biaslab.fairness_testing.found import load_found

    set_threads(threads)
    y, effort = load_labels(results), science.Effort(retrainings, retraining_share, uniform_samples, seed)
    tables = [
        science.retrain_case(case, y, load_found(results, case.attribute), effort)
        for case in load_cases(results, schema)
    ]
    write_tsv(results / "retraining.tsv", pd.concat(tables, ignore_index=True))


def _budget(text: str) -> int:
    if not (text.strip().isdecimal() and int(text) > 0):
        raise InputError(f"--query-budgets: '{text}' is no number of queries; give whole numbers from 1 on")
    return int(text)
