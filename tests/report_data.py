"""Areas cut down to their tables and figures, for the tests that write these."""

from pathlib import Path

from biaslab.run.area import Area, Units, load_area

CLAIMS = Path(__file__).parents[1] / "workflow/resources/claims"


def report_area(name: str) -> Area:
    """Return an area that has items, and chooses nothing."""
    items = load_area(name).items
    return Area(
        name,
        paper=name,
        settings=object,
        check=lambda given: None,
        wanted=lambda config: set(),
        choose=lambda given: Units(()),
        summaries=lambda config: [],
        items=items,
    )
