"""Every table and figure of the area: it is made, of exactly the files that it names."""

import inspect
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from biaslab.core.errors import InputError
from biaslab.origins.grid.analyses import items
from biaslab.run.area import ALL, FIGURE, TABLE, TEST, UNIT, Area, expand
from biaslab.run.reports import find, write_report
from origins_data import make_setups

ITEMS = items()
REPORT = Path(__file__).parents[3] / "workflow/report"


def area(items):
    nothing = [lambda *_: None] * 4
    return Area("origins", "a paper", object, *nothing, items, reader="biaslab.origins.report.results:Setup")


@pytest.fixture(scope="module")
def setup(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results") / "origins"
    return make_setups(folder, {"wiki": {"n_documents": 60, "sizes": (5, 10), "n_random": 1}})[0]


def only_named(item, setup, folder):
    """Copy the files that an item names into results of their own; return its unit and these files."""
    unit = setup.unit if item.per == ALL else replace(setup.unit, tests=setup.weats[:1])
    unit = replace(unit, files={weat: unit.files[weat] for weat in unit.tests})
    made = expand([item], [unit])
    inputs = {file for one in made for file in one.inputs(area([item]))} - set(unit.files.values())
    for file in inputs:
        path = folder / Path(file).relative_to("results")
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(setup.folder.parents[1] / path.relative_to(folder), path)
    return unit, sorted(folder / Path(file).relative_to("results") for file in inputs)


def name(item):
    return f"{item.kind}-{item.stem}"


@pytest.mark.parametrize("item", ITEMS, ids=name)
def test_function_takes_what_the_item_is_made_of(item):
    parameters = {ALL: ["setups"], UNIT: ["setup"], TEST: ["setup", "weat"]}[item.per]
    expected = [*parameters, "stem"] if item.kind == FIGURE else parameters
    assert list(inspect.signature(find(item.make)).parameters) == expected


@pytest.mark.parametrize("item", ITEMS, ids=name)
def test_every_item_has_a_caption_for_the_report(item):
    assert (REPORT / item.caption_file).read_text(encoding="utf-8").strip()


def test_no_two_items_have_the_same_files_or_the_same_function():
    assert len({(item.kind, item.stem) for item in ITEMS}) == len({item.make for item in ITEMS}) == len(ITEMS)


@pytest.mark.parametrize("item", ITEMS, ids=name)
def test_item_is_made_of_the_files_that_it_names_and_of_each_of_them(item, setup, tmp_path):
    unit, inputs = only_named(item, setup, tmp_path)
    for path in inputs:
        hidden = path.rename(path.with_suffix(".hidden"))
        with pytest.raises(InputError, match=f"{path.name}: no such file"):
            write_report(area([item]), [unit], tmp_path)
        hidden.rename(path)
    written = write_report(area([item]), [unit], tmp_path)
    expected = {f"origins/{file}" for one in expand([item], [unit]) for file in one.files}
    found = {str(p.relative_to(tmp_path)) for p in tmp_path.rglob("*") if p.is_file()}
    assert found - {str(path.relative_to(tmp_path)) for path in inputs} == expected
    assert written
    assert all((tmp_path / file).stat().st_size for file in expected)


def test_words_of_a_test_that_are_not_named_are_missed(setup, tmp_path):
    items = [item for item in ITEMS if item.stem in ("table1_weat_sets", "figure7_predicted_observed")]
    unit = replace(setup.unit, files={"weat2": setup.unit.files["weat2"]})
    shutil.copytree(setup.folder, tmp_path / "origins/wiki")
    for item in items:
        with pytest.raises(InputError, match="wiki: the file 'weat1' is missing"):
            write_report(area([item]), [unit], tmp_path)
        assert not list(tmp_path.rglob(f"{item.stem}*"))


def test_tables_written_twice_are_equal_bytes(setup, tmp_path):
    tables = area([item for item in ITEMS if item.kind == TABLE])
    for copy in ("one", "two"):
        shutil.copytree(setup.folder, tmp_path / copy / "origins/wiki")
        write_report(tables, [setup.unit], tmp_path / copy)
    for path in (tmp_path / "one").rglob("tables/*"):
        assert path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes(), path
