"""Fairness-aware ranking (Geyik et al. 2019) as an area of the workflow."""

from collections.abc import Iterator, Mapping
from typing import Any

from biaslab.ranking.report import figures, tables
from biaslab.ranking.settings import Section
from biaslab.run.area import Area, Given, Unit, Units, claims_of, items_of


def choose(given: Given) -> Units:
    """Return the simulation."""
    unit = Unit(AREA.name, files=claims_of(AREA.name, given.root))
    return Units((unit,), record={AREA.name: given.config[AREA.name]})


def summaries(config: Mapping[str, Any]) -> list[str]:
    """Describe the simulation in one line."""
    ranking = config["ranking"]
    sizes, n = ranking["attribute_values"], ranking["distributions"]
    return [
        f"simulation of {len(sizes) * n:,} lists: {n:,} desired distributions each for an attribute with"
        f" {', '.join(map(str, sizes))} values, five rankings of the top {ranking['top']}; all algorithms and"
        f" measures on {len(sizes) * ranking['compared_lists']:,} lists"
    ]


def check(given: Given) -> Iterator[str]:
    """Yield contradictions between values of the configuration."""
    ranking = given.config["ranking"]
    if ranking["top"] > ranking["candidates"]:
        limits = f"{ranking['top']} exceeds ranking.candidates, {ranking['candidates']}"
        yield f"ranking.top: {limits}, so that a value could run out of candidates; lower it"


PAPER = "Fairness-aware ranking (Geyik et al. 2019)"
STEPS = {
    "simulate-ranking": "biaslab.ranking.simulation:write_simulation",
    "compare-rankings": "biaslab.ranking.comparison:write_comparison",
}
AREA = Area(
    "ranking",
    PAPER,
    Section,
    check,
    wanted=lambda config: set(),  # the simulation needs no data
    choose=choose,
    summaries=summaries,
    items=items_of(tables, figures),
    captions="ranking",
    steps=STEPS,
)
