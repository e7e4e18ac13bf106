"""What every refusal of bad input has in common."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from biaslab.core.errors import InputError


@contextmanager
def refused(problem: str) -> Iterator[None]:
    """Assert that a block ends with an input error of one line that matches the problem."""
    with pytest.raises(InputError, match=problem) as error:
        yield
    assert "\n" not in str(error.value)


def assert_file_refused(path: Path, content: bytes, problem: str, read: Callable[[Path], object]) -> None:
    """Write a file and assert that reading it ends with one line that names the file and the problem."""
    path.write_bytes(content)
    with pytest.raises(InputError, match=problem) as error:
        read(path)
    assert path.name in str(error.value)
    assert "\n" not in str(error.value)


def refusal(function: Callable[..., object], *arguments: object, **options: object) -> str:
    """Return the one line with which a function refuses its arguments."""
    with pytest.raises(InputError) as caught:
        function(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)
