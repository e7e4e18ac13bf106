"""Commands that the documentation shows, run as a reader would, and compared with the outputs that it prints.

A page's blocks are run in order, in one folder of its own:

- a block ``console`` holds commands, each after ``$ `` (further lines of one after ``> ``), and below each
  all that it prints. ``...`` stands for any text within a line and, alone in a line, for any lines; blanks at
  the ends do not count. A command must succeed;
- a block with a title, such as ``yaml title="mine.yaml"``, is written to that file.

A comment ``<!-- needs torch transformers -->`` names modules without which the page is skipped. In the
folder, ``workflow`` leads to the repository's. ``python tests/consoles.py PAGE ...`` writes what the commands
print now in place of the outputs that differ.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

ROOT = Path(__file__).resolve().parents[1]
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
}
"""The text of each page of the documentation, by its path."""
WIDTH = 100
SECONDS = 1200
_TITLE = re.compile(r'title="([^"]+)"')
_NEEDS = re.compile(r"<!--\s*needs\s+([\w\s]+?)\s*-->")


@dataclass(frozen=True)
class Command:
    """A command and what it prints: the lines of the page from `first` up to `last` (counted from 0)."""

    line: str
    output: tuple[str, ...]
    first: int
    last: int


@dataclass(frozen=True)
class File:
    """A file that a page shows."""

    name: str
    text: str


def needs(text: str) -> list[str]:
    """Return the modules that a page needs."""
    return [name for found in _NEEDS.findall(text) for name in found.split()]


def steps(text: str) -> list[Command | File]:
    """Return what a page asks its reader to do."""
    found: list[Command | File] = []
    for token in MarkdownIt().parse(text):
        if token.type != "fence":
            continue
        title = _TITLE.search(token.info)
        if token.info.split()[:1] == ["console"]:
            found += _commands(token.content.splitlines(), token.map[0] + 1)
        elif title:
            found.append(File(title[1], token.content))
    return found


def _commands(lines: list[str], start: int) -> Iterator[Command]:
    if not lines or not lines[0].startswith("$ "):
        raise ValueError(f"line {start + 1}: a block `console` begins with a command, `$ ...`")
    starts = [k for k, line in enumerate(lines) if line.startswith("$ ")]
    for begin, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        first = begin + 1
        while first < end and lines[first].startswith("> "):
            first += 1
        command = "\n".join(line[2:] for line in lines[begin:first])
        yield Command(command, tuple(lines[first:end]), start + first, start + end)


def matches(expected: tuple[str, ...], printed: list[str]) -> bool:
    """Whether a command printed what a page says."""
    pattern = ""
    for line in _stripped(expected):
        pattern += "(.*\n)*" if line == "..." else ".*".join(map(re.escape, line.split("..."))) + "\n"
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in _stripped(printed))) is not None


def _stripped(lines: Sequence[str]) -> list[str]:
    """Return the lines without blanks at their ends and empty ones at the end."""
    return "\n".join(line.rstrip() for line in lines).rstrip().splitlines()


def prepare(folder: Path) -> dict[str, str]:
    """Make a page's folder ready; return the environment in which its commands run."""
    tools = folder / ".tools"
    tools.mkdir()
    for name, start in (("biaslab", " -m biaslab"), ("python", "")):
        script = tools / name
        script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)}{start} "$@"\n', encoding="utf-8")
        script.chmod(0o755)
    (folder / "workflow").symlink_to(ROOT / "workflow")
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PATH": f"{tools}:{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": ":".join(filter(None, paths)),
        "COLUMNS": str(WIDTH),
        "LC_ALL": "C.UTF-8",
    }


def run(command: str, folder: Path, environment: dict[str, str]) -> list[str]:
    """Run a command; return the lines that it prints, and fail with them if it fails."""
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if done.returncode:
        raise AssertionError(f"exit code {done.returncode} of {command}\n{done.stdout}")
    return done.stdout.splitlines()


def outputs(text: str, folder: Path) -> Iterator[tuple[Command, list[str]]]:
    """Yield every command of a page with the lines that it prints."""
    environment = prepare(folder)
    for step in steps(text):
        if isinstance(step, File):
            (folder / step.name).parent.mkdir(parents=True, exist_ok=True)
            (folder / step.name).write_text(step.text, encoding="utf-8")
        else:
            yield step, run(step.line, folder, environment)


def differences(text: str, folder: Path) -> Iterator[tuple[Command, list[str]]]:
    """Yield the commands of a page that print something else than it says."""
    return (
        (command, printed)
        for command, printed in outputs(text, folder)
        if not matches(command.output, printed)
    )


def renewed(text: str, folder: Path) -> str:
    """Return a page with what its commands print now."""
    lines = text.splitlines()
    for command, printed in reversed(list(differences(text, folder))):
        lines[command.first : command.last] = printed
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    import tempfile

    for page in map(Path, sys.argv[1:]):
        with tempfile.TemporaryDirectory() as name:
            page.write_text(renewed(page.read_text(encoding="utf-8"), Path(name)), encoding="utf-8")
