"""``biaslab step``: one step of the workflow, as its rule calls it."""

from typing import Annotated

import typer

from biaslab.cli.output import say


def step(
    name: Annotated[str, typer.Argument(help="The step, AREA.NAME, e.g. ranking.simulate-ranking.")],
    given: Annotated[str, typer.Option(help="Arguments in JSON: files and settings by name.")],
    threads: Annotated[
        int | None, typer.Option(help="Threads, for steps that can use several.", min=1)
    ] = None,
) -> None:
    """Do one step of the workflow as its rule does; ``run --printshellcmds`` shows the rules' lines."""
    from biaslab.run.plan.steps import run_step

    run_step(name, given, threads, say)
