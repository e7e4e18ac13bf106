"""What an attribution is: it says how much each document, or each set of them, contributes to a bias.

A new one costs a module with its functions, a row in `biaslab.origins.attribution.registry`, and an oracle.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Attribution:
    """One way to estimate B(w) - B(w~) (Equation 5 of Brunet et al. 2019).

    Attributes
    ----------
    name : str
        What tables and figures call it.
    about : str
        What it does, as a predicate: ``f"{name} {about}"`` is a sentence.
    colour, line : str
        How figures draw it: a colour of `biaslab.core.plotting`, and a line style.
    documents : str
        ``"MODULE:FUNCTION"`` in this folder; it takes the name, a `Scanner` and a test, and returns
        the `Estimates` of every document, which go to ``differential_bias/TEST.parquet``, unless it
        has a `table` of its own.
    sets : str
        The same of whole sets of documents, given as well; by default the estimates of
        their documents are added up.
    table, column : str
        The folder of the tables of each test that hold it, and how its columns there begin; by default its
        name.
    per_baseline : bool
        Whether each baseline has its own estimates, in columns ``COLUMN_seedK`` beside ``COLUMN_mean``. One
        that needs no baseline has one column; where it is undefined, the removal changes nothing.
    in_words : str
        What figures call it instead of its name.
    predicts : bool
        Whether it is measured in the bias, so that it predicts what is left without some documents.
    """

    name: str
    about: str
    colour: str
    line: str = "-"
    documents: str = ""
    sets: str = ""
    table: str = "differential_bias"
    column: str = ""
    per_baseline: bool = True
    predicts: bool = True
    in_words: str = ""

    @property
    def prefix(self) -> str:
        """How its columns begin."""
        return self.column or self.name

    @property
    def label(self) -> str:
        """What figures call it."""
        return self.in_words or self.name
