"""What the pages show: links that lead somewhere, configurations that are valid, and every command."""

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
import yaml
from markdown_it import MarkdownIt

import consoles
from biaslab.cli import app
from biaslab.core.settings import complete
from biaslab.run.plan.config import settings
from consoles import ROOT

DOCS = ROOT / "docs"
MOST = 10  # commands of a group
MADE = {
    DOCS / f"reference/api/{room}.md"
    for room in ("embeddings", "bias", "classifiers", "ranking", "debiasing", "origins")
}
"""Pages that `docs/api.py` makes when the site is built."""

PAGES = sorted(
    {*ROOT.glob("*.md"), *ROOT.glob("config/*.md"), ROOT / "results/README.md", *DOCS.rglob("*.md")}
)


def targets(text: str) -> Iterator[str]:
    """Yield where the links and images of a page lead."""
    for token in MarkdownIt().enable("table").parse(text):
        for child in token.children or []:
            found = child.attrs.get("href") or child.attrs.get("src")
            if found:
                yield str(found)
            if child.type == "html_inline":
                yield from re.findall(r'src="([^"]+)"', child.content)


def anchors(text: str) -> set[str]:
    """Return the names of a page's headings in links."""
    tokens = MarkdownIt().parse(text)
    headings = [after.content for token, after in itertools.pairwise(tokens) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page: Path, text: str) -> list[str]:
    """Return the links of a page that lead nowhere."""
    found = []
    for target in targets(text):
        path, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", path):
            continue
        file = (page.parent / path).resolve() if path else page
        lost = path and file not in MADE and not (file.exists() and file.is_relative_to(ROOT))
        if lost or (anchor and anchor not in anchors(file.read_text(encoding="utf-8") if path else text)):
            found.append(target)
    return found


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_links_lead_somewhere(page: Path) -> None:
    assert not broken(page, page.read_text(encoding="utf-8"))


def listed(entries: list) -> Iterator[str]:
    """Yield the pages of a navigation."""
    for entry in entries:
        for value in entry.values():
            yield from [value] if isinstance(value, str) else listed(value)


def test_navigation_holds_every_page() -> None:
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    pages = {path.relative_to(DOCS).as_posix() for path in {*DOCS.rglob("*.md"), *MADE}}
    assert sorted(listed(settings["nav"])) == sorted(pages)


def test_every_image_is_shown() -> None:
    shown = {
        (page.parent / target).resolve() for page in PAGES for target in targets(page.read_text("utf-8"))
    }
    assert set((DOCS / "images").iterdir()) <= shown


# --- configurations and commands

SHOWN = [
    pytest.param(page, token.content, id=f"{page}:{token.map[0] + 1}")
    for page, text in consoles.PAGES.items()
    for token in MarkdownIt().parse(text)
    if token.type == "fence" and ("mine.yaml" in token.info or token.content.startswith("# mine.yaml"))
]
assert SHOWN


@pytest.mark.parametrize(("page", "text"), SHOWN)
def test_configuration_is_valid(page: str, text: str) -> None:
    complete(settings(), yaml.safe_load(text), page)


def test_paper_scale_lists_every_preset() -> None:
    presets = {path.stem for path in (ROOT / "workflow/presets").glob("*.yaml")}
    assert {
        name for name in presets if f"\n| `{name}` |" not in consoles.PAGES["docs/how-to/paper-scale.md"]
    } == set()
    assert presets


def commands(group: typer.core.TyperGroup, *path: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of every command of a group."""
    for name, one in group.commands.items():
        if hasattr(one, "commands"):
            yield from commands(one, *path, name)
        else:
            yield (*path, name)


def test_groups_have_few_commands_and_each_stands_in_a_document() -> None:
    words = list(commands(typer.main.get_command(app)))
    assert max(Counter(one[:-1] for one in words).values()) <= MOST
    unnamed = {("extras",)}  # for the Makefile
    text = "\n".join(consoles.PAGES.values())
    assert [one for one in words if f"biaslab {' '.join(one)}" not in text and one not in unnamed] == []
