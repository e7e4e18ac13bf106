"""The bytes of the smoke run's tables; ``python tests/smoke_tables.py RESULTS`` writes those of a run."""

import hashlib
import sys
from pathlib import Path

import processors

REFERENCE = Path(__file__).parent / "smoke_tables.tsv"
_OTHERS = {"audit", "benchmarks", "datasets", "logs"}


def digests(results: Path) -> list[str]:
    """Return a line a table of an area: its path, and the sha256 of its bytes."""
    tables = {path.relative_to(results): path for path in sorted(results.rglob("*.tsv"), key=Path.as_posix)}
    chosen = {name: path.read_bytes() for name, path in tables.items() if name.parts[0] not in _OTHERS}
    return [f"{name}\t{hashlib.sha256(content).hexdigest()}" for name, content in chosen.items()]


if __name__ == "__main__":
    lines = [f"# {processors.versions()}", *digests(Path(sys.argv[1]))]
    REFERENCE.write_text("\n".join(lines) + "\n", encoding="utf-8")
