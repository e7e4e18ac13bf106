"""Runs that travel: what is shown is made again from a crate; a killed grid goes on elsewhere."""

import json
import re
from collections.abc import Iterable
from itertools import count
from pathlib import Path

import pytest

from biaslab.run.crate.contents import is_shown
from biaslab.run.crate.reading import opened_run
from biaslab.run.manifest import result_files
from biaslab.run.provenance import sha256_file
from biaslab.run.travel import draw
from elsewhere import Elsewhere

RUN = ["run", "--preset", "smoke", "--configfile", "mine.yaml", "--cores", 2]
KINDS, SETUP = ("measured", "answered"), "results/origins/smoke"
SETS = ("smoke-increase-5", "smoke-decrease-5")
GRID = [f"{SETUP}/{kind}/{name}/batch-{b}.tsv" for kind in KINDS for name in SETS for b in range(2)]
GRID += ["results/config.json"]
"""A part of a grid: what is measured in four trainings without a set."""
AUDIT = {"record_config", "measure_claims", "write_manifest"}

pytestmark = pytest.mark.slow


def machine(folder: Path, area: str, has_torch: bool = True) -> Elsewhere:
    """Return a machine on which one area is run."""
    place = Elsewhere(folder, has_torch)
    (place.folder / "mine.yaml").write_text(f"areas: [{area}]\n", encoding="utf-8")
    return place


def digests(place: Elsewhere) -> dict[str, str]:
    """Return the digests of all results but the manifest."""
    names = result_files(place.folder / "results")
    return {name: sha256_file(place.folder / "results" / name) for name in names if "manifest" not in name}


def times(place: Elsewhere) -> dict[str, int]:
    """Return when each result was written."""
    names = result_files(place.folder / "results")
    return {name: (place.folder / "results" / name).stat().st_mtime_ns for name in names}


def logs(place: Elsewhere) -> set[str]:
    """Return the names of the logs of all steps that were run, without suffix."""
    folder = place.folder / "results/logs"
    return {path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.log")}


# --- figures from an archived run


@pytest.fixture(scope="module")
def archived(tmp_path_factory) -> tuple[Elsewhere, Path]:
    """Return a machine with a run, and its crate."""
    place = machine(tmp_path_factory.mktemp("archived"), "ranking")
    place.biaslab(*RUN)
    place.biaslab("audit", "crate", "results", "--out", "run.zip", "--with", "results")
    return place, place.folder / "run.zip"


@pytest.fixture(scope="module")
def regenerated(archived, tmp_path_factory) -> tuple[Elsewhere, str]:
    """Return a machine without torch which went on from the crate, and what it said."""
    place = machine(tmp_path_factory.mktemp("elsewhere"), "ranking", has_torch=False)
    return place, place.biaslab("run", "--from", archived[1], "--cores", 2)


def test_all_that_is_shown_is_made_again_with_the_same_bytes_and_nothing_is_computed(archived, regenerated):
    place, said = regenerated
    before, after = digests(archived[0]), digests(place)
    assert {name for name in before if is_shown(name)} <= set(after)
    assert {name: before.get(name) for name in after} == after
    made = {name for name in logs(place) if "/report" not in name}
    assert made == {f"audit/{rule}" for rule in AUDIT}
    assert "ranking/report" in logs(place)
    assert "not taken" not in said
    assert re.search(r"(\d+) of \1 results made here have the other run's bytes", said)


def test_of_an_edited_figure_nothing_is_computed_again(archived, regenerated):
    place, before = regenerated[0], times(regenerated[0])
    with place.edited("biaslab/ranking/report/figures.py", lambda text: f"{text}\nEDITED = True\n"):
        place.biaslab("run", "--from", archived[1], "--cores", 2)
    after = times(place)
    again = {name for name in after if after[name] != before.get(name) and not name.startswith("audit/")}
    assert again == {name for name in after if name.startswith(("ranking/tables/", "ranking/figures/"))}


def test_of_an_edited_kernel_all_that_it_computed_is_named_before_anything_runs(archived, regenerated):
    place, before = regenerated[0], times(regenerated[0])
    with place.edited("biaslab/ranking/_kernels.py", lambda text: f"{text}\nEDITED = True\n"):
        said = place.biaslab("run", "--from", archived[1], "--cores", 2, "--dry-run")
    assert (
        "simulate_ranking"
        in re.search(r"code that has changed since, and taken without a check: (.*)", said)[1]
    )
    assert "simulate_ranking" not in re.search(r"to be made: (.*)", said)[1]
    assert times(place) == before


# --- a grid in parts


def trained(names: Iterable[str]) -> set[str]:
    """Return the trainings, as SET/batch-B, that files are of."""
    return {found[0] for name in names if (found := re.search(r"[\w-]+/batch-\d+", name))}


def test_a_killed_grid_goes_on_elsewhere_and_trains_again_only_what_is_drawn(tmp_path_factory):
    first, second = (machine(tmp_path_factory.mktemp("part"), "origins") for _ in range(2))
    answered = [first.folder / name for name in GRID if "/answered/" in name]
    first.kill([*RUN, "--cores", 1, *GRID], lambda: sum(file.exists() for file in answered) > 1)
    first.biaslab("audit", "crate", "results", "--out", "part.zip", "--with", "results")
    part = first.folder / "part.zip"
    with opened_run(part) as run:
        steps = [
            step
            for step in run.steps
            if not all(is_shown(file.removeprefix("results/")) for file in step.outputs)
        ]
        held = {name for name in GRID if run.holds(name.removeprefix("results/"))}
    lacking = set(GRID) - held
    assert lacking
    assert len(trained(held) - trained(lacking)) > 0
    seed = next(n for n in count() if "/answered/smoke-" in min(draw(steps, 1, n)[0].outputs))
    drawn = [min(step.outputs) for step in draw(steps, 1, seed)]

    said = second.biaslab(*RUN, "--from", part, "--recheck", 1, "--recheck-seed", seed, *GRID)
    assert f"1 of 1 steps drawn by the seed {seed} gave the same bytes" in said
    noted = json.loads((second.folder / "results/logs/taken.json").read_text(encoding="utf-8"))
    assert noted["recheck"] == {"seed": seed, "drawn": drawn, "equal": 1}
    again = trained(name for name in logs(second) if "/train_without_set/" in name)
    assert again == trained([*lacking, *drawn])
    first.biaslab(*RUN, *GRID)
    whole, parts = digests(first), digests(second)
    assert {name.removeprefix("results/") for name in GRID} <= set(parts)
    assert {name: whole.get(name) for name in parts} == parts
