"""Every table and figure of every area, made of the results of the smoke run."""

import os
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from biaslab.core import plotting
from biaslab.core.errors import InputError
from biaslab.run.area import FIGURE, SUFFIXES, Area, Item, Made, load_area
from biaslab.run.areas import AREAS
from biaslab.run.plan.plan import Plan
from biaslab.run.plan.reports import write_report
from smoke_run import plan_of

ITEMS = [
    pytest.param(load_area(name), item, id=f"{name}-{item.kind}-{item.stem}")
    for name in AREAS
    for item in load_area(name).items
]


@pytest.fixture(scope="module")
def plan(smoke_run) -> Plan:
    return plan_of(smoke_run)


def made_in(plan: Plan, area: Area) -> list[Made]:
    """Return the tables and figures of an area; skip the test if the run lacks the area's extra."""
    if area not in plan.areas:
        pytest.skip(f"needs the extra '{area.extra}'")
    return plan.made(area)


def made_of(plan: Plan, area: Area, item: Item) -> list[Made]:
    """Return the first table or figure of an item, for the first of its tests."""
    made = [one for one in made_in(plan, area) if one.item == item]
    assert made, "the smoke run does not make it"
    return made[:1]


def link_inputs(made: Made, area: Area, run: Path, folder: Path) -> list[Path]:
    """Link the results that a table or figure is said to be made of into an empty folder, and no other."""
    linked = []
    for file in made.inputs(area):
        path = folder / file
        if file.startswith("results/") and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            os.link(run / file, path)
            linked.append(path)
    return linked


@pytest.mark.parametrize(("area", "item"), ITEMS)
def test_it_is_made_of_the_files_that_it_names_and_of_each_of_them(
    area, item, plan, smoke_run, tmp_path, monkeypatch
):
    def save(figure, stem):
        for suffix in SUFFIXES[FIGURE][:-1]:
            Path(f"{stem}{suffix}").touch()

    monkeypatch.setattr(plotting, "save", save)  # to draw takes longer than all else
    monkeypatch.chdir(smoke_run)
    (made,) = made_of(plan, area, item)
    units = [replace(unit, tests=(made.test,)) if made.test else unit for unit in made.units]
    own = replace(area, items=(item,))
    for path in link_inputs(made, area, smoke_run, tmp_path):
        hidden = path.rename(path.with_name("hidden"))
        with pytest.raises(InputError, match=re.escape(f"{path.name}: no such file")):
            write_report(own, units, tmp_path / "results")
        hidden.rename(path)
    assert write_report(own, units, tmp_path / "results") == [made.stem]


@pytest.mark.parametrize("name", AREAS)
def test_no_two_items_write_one_file(name, plan):
    files = [file for made in made_in(plan, load_area(name)) for file in made.files]
    assert len(set(files)) == len(files)


@pytest.mark.parametrize("name", AREAS)
def test_every_figure_has_ink_on_white(name, plan, smoke_run):
    for made in made_in(plan, load_area(name)):
        if made.item.kind == FIGURE:
            with Image.open(smoke_run / f"results/{name}/{made.stem}.png") as image:
                assert np.ptp(np.asarray(image.convert("L"))) > 200, made.stem
