"""The audit in a crate's graph: its files, and for each paper a review that says what was found."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from biaslab.core.files import read_text_table
from biaslab.run.crate import RESULTS
from biaslab.run.crate.contents import Record
from biaslab.run.crate.entities import add, file_at

if TYPE_CHECKING:
    from rocrate.model import Entity
    from rocrate.rocrate import ROCrate

_FOLDER = f"{RESULTS}/audit/"
_ABOUT = "Every claim of the papers, as printed and as measured in this run, with a verdict."


def add_audit(crate: "ROCrate", record: Record) -> "Entity":
    """Describe the audit of a run."""
    files = [file for file in record.outputs if file.place.startswith(_FOLDER)]
    parts = [file_at(crate, file.place) for file in files]
    properties = {"name": "audit", "description": _ABOUT, "hasPart": parts}
    audit = crate.add_dataset(dest_path=_FOLDER, properties=properties)
    summary = next((file.source for file in files if file.place == f"{_FOLDER}summary.tsv"), None)
    if summary is not None:
        reviews = [_add_review(crate, paper, found) for paper, found in _found(summary).items()]
        audit["review"] = reviews
        audit["about"] = [review["itemReviewed"] for review in reviews]
    return audit


def _add_review(crate: "ROCrate", paper: str, found: str) -> "Entity":
    slug = re.sub(r"[^a-z0-9]+", "-", paper.lower()).strip("-")
    article = add(crate, f"#paper/{slug}", "ScholarlyArticle", name=paper)
    texts = {"name": f"audit of {paper}", "reviewBody": found}
    folder = {"@id": _FOLDER}
    return add(crate, f"#review/{slug}", "Review", itemReviewed=article, isPartOf=folder, **texts)


def _found(summary: Path) -> dict[str, str]:
    """Return what the audit's summary counts for each paper, in words."""
    found: dict[str, list[str]] = {}
    for _, row in read_text_table(summary, ("paper", "counts_as")):
        counts = [f"{n} {what.replace('_', ' ')}" for what, n in row.items() if n.isdigit() and int(n)]
        found.setdefault(row["paper"], []).append(f"{row['counts_as']}s: {', '.join(counts) or 'none'}")
    return {paper: "; ".join(parts) for paper, parts in found.items()}
