"""Record what a run's audit came to, for the headlines in README.md and docs/audit.md.

    python docs/record.py NAME RESULTS TIME     # e.g. public results '19 min 1 s'

writes docs/records/NAME.tsv (results/audit/summary.tsv of the run) and NAME.json: where it was made, in what
time. Then `python docs/generated.py` writes the pages.
"""

import json
import shutil
import sys
from pathlib import Path

from biaslab.audit.summary import multiplicity, read_measured

RECORDS = Path(__file__).parent / "records"


def record(name: str, results: Path, time: str) -> None:
    """Copy the summary of a run, and note the processor, the commit and the time of the run."""
    RECORDS.mkdir(exist_ok=True)
    environment = json.loads((results / "audit/manifest.json").read_text(encoding="utf-8"))["environment"]
    shutil.copyfile(results / "audit/summary.tsv", RECORDS / f"{name}.tsv")
    signs = multiplicity(read_measured(results / "audit/claims.tsv"))
    made = {"cpu": environment["cpu"], "cpus": environment["cpus"], "time": time, "signs": signs.sentence}
    text = json.dumps(made | {"commit": environment["git"]["commit"]}, indent=2) + "\n"
    (RECORDS / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    record(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
