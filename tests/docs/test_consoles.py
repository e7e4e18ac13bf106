"""Every command that the documentation shows with an output prints that output."""

import importlib.util
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import consoles
from biaslab.starter import VARIABLE

WITH_COMMANDS = [page for page, text in consoles.PAGES.items() if consoles.steps(text)]


@pytest.fixture(scope="module")
def starter() -> Iterator[str]:
    """Return where commands are started as a run starts its steps: forked, with their libraries imported."""
    say_where = ["sh", "-c", f'echo "${VARIABLE}"; cat']
    command = [sys.executable, "-m", "biaslab.starter", *say_where]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process.stdout.readline().strip()
        process.stdin.close()


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_COMMANDS)
def test_commands_print_what_the_page_says(
    page: str, starter: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, starter)
    text = consoles.PAGES[page]
    missing = [name for name in consoles.needs(text) if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
    for command, printed in consoles.differences(text, tmp_path):
        shown = "\n".join(command.output)
        pytest.fail(f"$ {command.line}\nthe page says:\n{shown}\nprinted:\n" + "\n".join(printed))


PAGE = """
```yaml title="a/mine.yaml"
seed: 2
```

```console
$ cat a/mine.yaml
seed: ...
$ printf 'one\\ntwo\\n' |
> tr a-z A-Z
ONE
...
```

```sh
never run
```
"""


def test_blocks_run_in_order_in_one_folder(tmp_path: Path) -> None:
    printed = [lines for _, lines in consoles.outputs(PAGE, tmp_path)]
    assert printed == [["seed: 2"], ["ONE", "TWO"]]


@pytest.mark.parametrize(
    ("expected", "printed", "same"),
    [
        (["a", ""], ["a  "], True),
        (["a", "", "b"], ["a", "b"], False),
        (["a"], ["a", "b"], False),
        ([], ["a"], False),
        (["a ... c"], ["a b c"], True),
        (["a ... c"], ["a b d"], False),
        (["..."], [], True),
        (["a", "...", "d"], ["a", "b", "c", "d"], True),
        (["1.5 (x)"], ["1x5 (x)"], False),
    ],
)
def test_an_output_matches_but_for_dots(expected: list[str], printed: list[str], same: bool) -> None:
    assert consoles.matches(tuple(expected), printed) is same


def test_other_output_is_told_and_renewed(tmp_path: Path) -> None:
    page = "```console\n$ echo a\nb\n$ echo c\nc\n$ true\n```\n"
    (first := tmp_path / "1").mkdir()
    (second := tmp_path / "2").mkdir()
    assert [command.line for command, _ in consoles.differences(page, first)] == ["echo a"]
    assert consoles.renewed(page, second) == page.replace("\nb\n", "\na\n")


def test_a_command_that_fails_and_an_output_without_a_command_are_refused(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"exit code 3 of echo why; exit 3\nwhy"):
        list(consoles.outputs("```console\n$ echo why; exit 3\n```\n", tmp_path))
    with pytest.raises(ValueError, match="line 2: a block `console` begins with a command"):
        consoles.steps("```console\nfound\n```\n")


def test_a_page_says_what_it_needs() -> None:
    assert consoles.needs("# Page\n<!-- needs torch transformers -->\n") == ["torch", "transformers"]
