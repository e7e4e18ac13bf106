"""What an item says of itself holds: its function, the files it is made of, those it makes, its caption."""

import inspect
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import debiasing_data
import fairness_report_data
import fairness_text_report_data
import hate_speech_data
import ranking_data
from biaslab.core.errors import InputError
from biaslab.run.area import FIGURE, TEST, Unit, expand
from biaslab.run.reports import find, write_report
from report_data import report_area

CAPTIONS = Path(__file__).parents[2] / "workflow/report"
CLASSIFIERS = {"census": ["race"], "adult": ["sex"]}
CORPORA = ("forum", "talk")
UNITS = {
    "debiasing": [Unit("news", marks=("setup",)), Unit("sample")],
    "ranking": [ranking_data.UNIT],
    "fairness_testing": [
        *fairness_report_data.units_of(CLASSIFIERS),
        *fairness_text_report_data.units_of(CORPORA),
    ],
    "hate_speech": hate_speech_data.units_of(CORPORA),
}
ITEMS = [
    pytest.param(replace(report_area(name), items=(item,)), item, id=f"{name}-{item.kind}-{item.stem}")
    for name in UNITS
    for item in report_area(name).items
]


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    """Return the results of all units, without any table or figure."""
    folder = tmp_path_factory.mktemp("results")
    for seed, unit in enumerate(UNITS["debiasing"]):
        debiasing_data.write_results(folder / "debiasing" / unit.name, seed)
    ranking_data.write_results(folder / "ranking")
    fairness_report_data.write_results(folder / "fairness_testing", CLASSIFIERS)
    fairness_text_report_data.write_results(folder / "fairness_testing", CORPORA)
    hate_speech_data.write_results(folder / "hate_speech", CORPORA, ("bow", "vanilla", "soc-0.1"), n_seeds=2)
    return folder


def copy_inputs(area, results: Path, folder: Path) -> None:
    """Copy the files that the area's only item is said to be made of, and no other."""
    for made in expand(area.items, UNITS[area.name]):
        for unit in made.units:
            for file in made.item.files:
                copy = Path(area.folder(unit.name, str(folder))) / file
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(Path(area.folder(unit.name, str(results))) / file, copy)


@pytest.mark.parametrize(("area", "item"), ITEMS)
def test_function_takes_what_the_item_gives(area, item):
    n_given = 1 + (item.per == TEST) + (item.kind == FIGURE)
    assert len(inspect.signature(find(item.make)).parameters) == n_given


@pytest.mark.parametrize(("area", "item"), ITEMS)
def test_item_is_made_of_the_files_it_names(area, item, results, tmp_path):
    copy_inputs(area, results, tmp_path)
    made = expand(area.items, UNITS[area.name])
    assert write_report(area, UNITS[area.name], tmp_path) == [one.stem for one in made]
    sizes = [(tmp_path / area.name / file).stat().st_size for one in made for file in one.files]
    assert min(sizes) > 0


@pytest.mark.parametrize(("area", "item"), ITEMS)
def test_item_names_no_file_that_it_does_not_read(area, item, results, tmp_path):
    for file in item.files:
        copy_inputs(area, results, tmp_path)
        unit = expand(area.items, UNITS[area.name])[0].units[0]
        (Path(area.folder(unit.name, str(tmp_path))) / file).unlink()
        with pytest.raises(InputError, match=re.escape(f"{file}: no such file")):
            write_report(area, UNITS[area.name], tmp_path)


@pytest.mark.parametrize(("area", "item"), ITEMS)
def test_item_has_a_caption(area, item):
    assert (CAPTIONS / item.caption_file).read_text(encoding="utf-8").strip()


@pytest.mark.parametrize("name", UNITS)
def test_no_two_items_write_one_file(name):
    files = [file for made in expand(report_area(name).items, UNITS[name]) for file in made.files]
    assert len(set(files)) == len(files)


@pytest.mark.parametrize("name", UNITS)
def test_items_are_listed_without_any_library(name):
    heavy = "{'numpy', 'pandas', 'matplotlib', 'torch'}"
    code = f"import sys, biaslab.{name}.items; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
