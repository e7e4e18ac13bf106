"""The audit of a run: every claim measured, what was found of each paper, and the page."""

from collections.abc import Callable
from pathlib import Path

from biaslab.audit.claims import read_claims
from biaslab.audit.html import write_html
from biaslab.audit.measure import measure_claims
from biaslab.audit.summary import write_summary
from biaslab.core.io import write_tsv


def audit(
    registries: list[Path],
    schema: Path,
    printed: list[Path],
    papers: list[Path],
    results: Path,
    setups: dict[str, list[str]],
    absent: dict[str, str],
    made_up: list[list[str]],
    lacking: dict[str, dict[str, list[str]]],
    claims: Path,
    page: Path,
    say: Callable[[str], None],
) -> None:
    """Measure every published claim on the results; write the verdicts, their summary and the page."""
    invented = {(area, name) for area, name in made_up}
    registry = read_claims(registries, schema)
    write_tsv(claims, measure_claims(registry, results, setups, absent, invented, lacking))
    write_summary(claims, printed, papers, claims.with_name("summary"), say)
    write_html(claims, page, printed, papers)
