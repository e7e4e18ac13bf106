"""Measure the time and memory of a step. The step itself writes them next to its log (standard error)."""

import fcntl
import os
import resource
import sys
import time

from biaslab.core.files import write_text

_LOGS, _BENCHMARKS = "/results/logs/", "/results/benchmarks/"
_UNITS_IN_MB = 2**20 if sys.platform == "darwin" else 2**10
"""Units of ``ru_maxrss`` in a megabyte."""


def note_cost(began: float) -> None:
    """Write wall-clock seconds since `began`, largest resident set size (MB) and processor seconds of a step.

    The numbers include finished child processes.
    """
    before, is_log, name = _standard_error().rpartition(_LOGS)
    if not is_log or not name.endswith(".log"):
        return
    seconds = time.monotonic() - began
    usages = [resource.getrusage(target) for target in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    memory = max(usage.ru_maxrss for usage in usages) / _UNITS_IN_MB
    processor = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    file = f"{before}{_BENCHMARKS}{name.removesuffix('.log')}.tsv"
    write_text(file, f"s\tmax_rss\tcpu_time\n{seconds:.2f}\t{memory:.1f}\t{processor:.2f}\n")


def _standard_error() -> str:
    """Return the file of standard error; "" if it has no name."""
    try:
        if sys.platform == "darwin":
            return fcntl.fcntl(2, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0").decode()
        return os.readlink("/proc/self/fd/2")
    except (OSError, UnicodeDecodeError):
        return ""
