"""What a report shows: a table or figure with its caption."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    """One table or figure: where it lies and how a report presents it.

    Areas that make one for each of several things add fields, which are labels of the report, too.

    Attributes
    ----------
    stem : str
        Path without suffix, relative to the results folder of the area.
    caption : str
        Stem of the caption file of the report.
    item : str
        What the report calls it, for example ``"Figure 2"``.
    """

    stem: str
    caption: str
    item: str
