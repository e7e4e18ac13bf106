"""The two lanes of the tests: `make test` runs the quick one, `make test-all` both."""

from collections.abc import Iterable

import pytest


def first_quick(values: Iterable, n: int = 1) -> list:
    """Return the parameters of a test of which `make test` tries the first `n`, and `make test-all` each."""
    return [
        value if place < n else pytest.param(*_parts(value), marks=pytest.mark.slow)
        for place, value in enumerate(values)
    ]


def _parts(value: object) -> tuple:
    return value if isinstance(value, tuple) else (value,)
