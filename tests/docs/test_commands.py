"""The commands are those of people: few in each group, and each stands in a document."""

from pathlib import Path

import pytest
import typer

from biaslab.cli import app

ROOT = Path(__file__).parents[2]
PAGES = "\n".join(
    path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
)
MOST = 10


def commands(group, path=()):
    """Yield the words of every command of a group."""
    for name, one in group.commands.items():
        if hasattr(one, "commands"):
            yield from commands(one, (*path, name))
        else:
            yield (*path, name)


GROUPS: dict[str, list[str]] = {}
for _words in commands(typer.main.get_command(app)):
    GROUPS.setdefault(" ".join(_words[:-1]) or "biaslab", []).append(" ".join(_words))


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_has_few_commands_and_each_stands_in_a_document(group):
    assert len(GROUPS[group]) <= MOST
    unnamed = {"extras"}  # for the Makefile
    assert [name for name in GROUPS[group] if f"biaslab {name}" not in PAGES and name not in unnamed] == []
