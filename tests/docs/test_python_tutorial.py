"""The tutorial in Python prints what it says: its scripts run here, in one process."""

import runpy
from pathlib import Path

import pytest

from consoles import ROOT, File, matches, steps

PAGE = ROOT / "docs/tutorials/documents-python.md"


def test_scripts_print_what_the_page_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for step in steps(PAGE.read_text(encoding="utf-8")):
        if isinstance(step, File):
            Path(step.name).write_text(step.text, encoding="utf-8")
            continue
        tool, script = step.line.split()
        assert tool == "python"
        capsys.readouterr()
        runpy.run_path(script, run_name="__main__")
        assert matches(step.output, capsys.readouterr().out.splitlines()), step.line
