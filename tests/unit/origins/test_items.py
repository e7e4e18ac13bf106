"""What every table and figure of the area says of itself."""

import inspect
from pathlib import Path

import pytest

from biaslab.origins.grid.analyses import items
from biaslab.run.area import ALL, FIGURE, TEST, UNIT
from biaslab.run.reports import find

ITEMS = items()
REPORT = Path(__file__).parents[3] / "workflow/report"


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item.kind}-{item.stem}")
def test_an_item_has_a_function_that_takes_what_it_is_made_of_and_a_caption(item):
    parameters = {ALL: ["setups"], UNIT: ["setup"], TEST: ["setup", "weat"]}[item.per]
    expected = [*parameters, "stem"] if item.kind == FIGURE else parameters
    assert list(inspect.signature(find(item.make)).parameters) == expected
    assert (REPORT / item.caption_file).read_text(encoding="utf-8").strip()


def test_no_two_items_have_the_same_files_or_the_same_function():
    assert len({(item.kind, item.stem) for item in ITEMS}) == len({item.make for item in ITEMS}) == len(ITEMS)
