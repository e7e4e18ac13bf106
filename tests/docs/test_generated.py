"""The pages that follow from the schemas and the areas are up to date."""

import importlib.util

import pytest

from consoles import ROOT

_SPEC = importlib.util.spec_from_file_location("generated", ROOT / "docs/generated.py")
generated = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(generated)


@pytest.mark.parametrize("page", generated.generated_pages())
def test_generated_page_is_up_to_date(page: str) -> None:
    assert (ROOT / page).read_text(encoding="utf-8") == generated.renewed(page), (
        "run python docs/generated.py"
    )


def test_every_kind_of_key_is_described() -> None:
    own = {"properties": {"format": {"enum": ["a|b", "c"], "description": "how it is written"}}}
    node = {
        "properties": {
            "count": {"type": ["integer", "null"], "minimum": 1, "default": None, "description": "how many"},
            "own": {
                "type": "object",
                "additionalProperties": own,
                "description": "own ones",
            },
        }
    }
    assert list(generated._rows("area", node)) == [
        ("`area.count`", "whole number or null", "`null`", "≥ 1", "how many"),
        ("`area.own`", "mapping", "must be given", "", "own ones"),
        ("`area.own.NAME.format`", "text", "must be given", "`a|b`, `c`", "how it is written"),
    ]
