"""Examples of the property-based tests: a fixed set, or with ``BIASLAB_SEARCH=N`` N times as many at random.

Hypothesis also draws the constants of the modules that are imported at the time. The fixed set leaves these
out: otherwise the examples would depend on the order of the tests.
"""

import os

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

TIMES = int(os.environ.get("BIASLAB_SEARCH", "0"))
_CLOCKLESS = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}


def load_profile() -> None:
    """Choose the fixed set or the search for all tests that are collected from now on."""
    settings.register_profile("fixed", derandomize=True, database=None, **_CLOCKLESS)
    settings.register_profile(
        "search", derandomize=False, max_examples=100 * max(TIMES, 1), print_blob=True, **_CLOCKLESS
    )
    settings.load_profile("search" if TIMES else "fixed")
    if not TIMES:
        no_constants = providers.Constants()
        providers._get_local_constants = lambda: no_constants


def examples(n: int) -> settings:
    """Return the settings of a test that tries `n` examples instead of 100."""
    return settings(max_examples=n * max(TIMES, 1))
