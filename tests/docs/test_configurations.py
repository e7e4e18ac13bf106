"""Every configuration that the documentation shows is one that the schema takes."""

from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

from biaslab.core.schema import check_schema
from biaslab.run.config import make_schema
from consoles import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHOWN = [
    pytest.param(page, token.content, id=f"{page.relative_to(ROOT)}:{token.map[0] + 1}")
    for page in PAGES
    for token in MarkdownIt().parse(page.read_text(encoding="utf-8"))
    if token.type == "fence" and ("mine.yaml" in token.info or token.content.startswith("# mine.yaml"))
]


@pytest.mark.parametrize(("page", "text"), SHOWN)
def test_configuration_is_valid(page: Path, text: str) -> None:
    check_schema(yaml.safe_load(text), make_schema(), str(page))


def test_configurations_are_found() -> None:
    assert SHOWN


def test_paper_scale_lists_every_preset() -> None:
    page = (ROOT / "docs/how-to/paper-scale.md").read_text(encoding="utf-8")
    presets = {path.stem for path in (ROOT / "workflow/presets").glob("*.yaml")}
    assert {name for name in presets if f"\n| `{name}` |" not in page} == set()
    assert presets
