# What the rules share: the plan of this run, which tested Python of the package makes of the configuration.
import json
import os
import sys
from functools import partial
from pathlib import Path

# Planning uses the source next to the workflow; the steps need the package in their environment.
CHECKOUT = Path(str(workflow.current_basedir)).parents[1]
sys.path.append(str(CHECKOUT.resolve() / "src"))

# Of a hosted repository Snakemake caches the files of the workflow, but not the package.
try:
    import biaslab
except ModuleNotFoundError:
    print(
        "biaslab: the package is missing in the environment of Snakemake; "
        "install the package first: pip install . in a clone of the repository",
        file=sys.stderr,
    )
    sys.exit(2)

from biaslab.core.errors import InputError
from biaslab.run.plan.arguments import only_looks
from biaslab.run.travel.failures import note_failures
from biaslab.run.life.lock import hold_folder
from biaslab.run.plan.plan import make_plan
from biaslab.run.root import is_repository, repository
from biaslab.run.plan.rules import (
    Limits,
    cancel_timers,
    complete_rules,
    limit_prefix,
    move_results,
    write_planned,
)
from biaslab.run.plan.slurm import check_slurm
from biaslab.run.plan.steps import given, mark_rules, part, step

# Rules that Snakemake takes from a hosted repository have their files in the package.
ROOT = Path(os.path.relpath(CHECKOUT if is_repository(CHECKOUT) else repository()))
ENVIRONMENT = "../../envs/biaslab.yaml"
NEURAL = "../../envs/neural.yaml"

# Steps call the `biaslab` of this Python, even if snakemake is called by its path, and
# envs/*.post-deploy.sh install from this repository.
os.environ.update(
    PATH=os.pathsep.join([str(Path(sys.executable).parent), *os.get_exec_path()]),
    BIASLAB_REPOSITORY=str(ROOT.resolve()),
)


def tell(line):
    print(f"biaslab: {line}", file=sys.stderr)


# Data that cannot be had are left out of the plan, so that they are downloaded before it is made: once, and no
# more where `biaslab run` did so. A job of a cluster downloads nothing.
runs_steps = workflow.is_main_process and not only_looks(sys.argv[1:])

try:
    if runs_steps:
        hold_folder()
    PLAN = make_plan(
        config,
        ROOT,
        deploys=bool(workflow.deployment_settings.deployment_method),
        download=tell if runs_steps else None,
    )
except InputError as error:
    tell(error)
    sys.exit(2)
for notice in PLAN.notices:
    tell(notice)
config.update(PLAN.config)
RESULTS = limit_prefix(workflow)


wildcard_constraints:
    dataset=r"[a-z0-9-]+",


# Cores are shared here, but not where a cluster runs the jobs, nor within such a job, which has its own.
shares_cores = workflow.is_main_process and workflow.resource_settings.nodes is None
LIMITS = Limits(**config["cluster"], cores=workflow.resource_settings.cores if shares_cores else None)


onstart:
    try:
        check_slurm(workflow)
        write_planned(workflow, RESULTS)
    except InputError as error:
        tell(error)
        sys.exit(2)


onsuccess:
    cancel_timers()


onerror:
    cancel_timers()
    try:
        lines = note_failures(workflow, PLAN, RESULTS.rstrip("/"))
    except InputError as error:
        lines = [str(error)]
    for line in lines:
        tell(line)


def shown(area, made):
    """The files of some of an area's tables and figures that the report shows, each with its place there."""
    mark = partial(report, category=area.paper)
    return [mark(f"results/{area.name}/{one.files[0]}", **one.report(area)) for one in made]


def results_of(*areas):
    """All that is made for some areas, but what failed steps cost."""
    files = [file for area in areas for file in getattr(rules, area).input]
    return [file for file in files if str(file).removeprefix(RESULTS) not in PLAN.lost]
