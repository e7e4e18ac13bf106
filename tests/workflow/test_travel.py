"""Runs that travel: results are the same, and nothing is computed twice."""

import json
import re
from collections.abc import Iterable
from itertools import count
from pathlib import Path

import pytest

from biaslab.run.record.manifest import result_files
from biaslab.run.record.provenance import sha256_file
from biaslab.run.travel.crate.contents import is_shown
from biaslab.run.travel.crate.reading import opened_run
from biaslab.run.travel.travel import draw
from elsewhere import Elsewhere

RUN = ["run", "--preset", "smoke", "--configfile", "mine.yaml", "--cores", 2]
KINDS, SETUP = ("measured", "answered"), "results/origins/smoke"
SETS = ("smoke-increase-5", "smoke-decrease-5", "smoke-increase-10", "smoke-decrease-10")
GRID = [f"{SETUP}/{kind}/{name}/batch-0.tsv" for kind in KINDS for name in SETS]
GRID += ["results/config.json"]
"""A part of a grid: what is measured in four trainings without a set."""


def machine(folder: Path, config: str) -> Elsewhere:
    place = Elsewhere(folder)
    (place.folder / "mine.yaml").write_text(config, encoding="utf-8")
    return place


def digests(results: Path) -> dict[str, str]:
    """Return the digests of all results but the manifest."""
    return {name: sha256_file(results / name) for name in result_files(results) if "manifest" not in name}


def logs(place: Elsewhere) -> set[str]:
    folder = place.folder / "results/logs"
    return {path.relative_to(folder).with_suffix("").as_posix() for path in folder.rglob("*.log")}


def trained(names: Iterable[str]) -> set[str]:
    """Return the trainings, as SET/batch-B, that files are of."""
    return {found[0] for name in names if (found := re.search(r"[\w-]+/batch-\d+", name))}


@pytest.mark.slow
def test_a_killed_grid_goes_on_elsewhere_and_trains_again_only_what_is_drawn(tmp_path_factory):
    first, second = (machine(tmp_path_factory.mktemp("part"), "areas: [origins]\n") for _ in range(2))
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
    whole, parts = (digests(place.folder / "results") for place in (first, second))
    assert {name.removeprefix("results/") for name in GRID} <= set(parts)
    assert {name: whole.get(name) for name in parts} == parts
