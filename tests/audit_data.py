"""A claim for the tests of the audit."""

from biaslab.audit.claims import Claim


def claim(**fields):
    """A claim on the mean of the column x of origins/{setup}/a.tsv, with some fields changed."""
    defaults = {
        "claim_id": "t1-mean",
        "paper": "Doe 2020",
        "item": "Table 1",
        "statement": "Mean",
        "published": "2.0",
        "origin": "text",
        "counts_as": "cell",
        "part_of": "",
        "kind": "value",
        "value": 2.0,
        "tolerance": 0.5,
        "rationale": "judgement: made up",
        "null": "-9",
        "direction": False,
        "setup": "small",
        "other_data": False,
        "gates": "",
        "min_rows": 1,
        "file": "origins/{setup}/a.tsv",
        "select": "",
        "measure": "mean(x)",
        "interval": "",
        "shown": "",
        "caveat": "",
        "reason": "",
        "where": "claims.tsv, line 2",
        "area": "origins",
    }
    return Claim(**defaults | fields)
