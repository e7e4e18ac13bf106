"""What a dry run of Snakemake announces."""

import re
import subprocess


def jobs(finished: subprocess.CompletedProcess) -> dict[str, int]:
    """Return the number of jobs of each rule, and of all of them as "total"."""
    said = finished.stdout + finished.stderr
    assert finished.returncode == 0, said
    return {name: int(count) for name, count in re.findall(r"^(\w+) +(\d+)$", said, flags=re.M)}
