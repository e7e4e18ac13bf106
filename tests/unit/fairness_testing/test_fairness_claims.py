"""The claims on tables: what no row may stand for."""

from pathlib import Path

import pytest

from biaslab.audit.claims import Claim, read_claims

RESOURCES = Path(__file__).parents[3] / "workflow/resources"


@pytest.fixture(scope="module")
def claims() -> dict[str, Claim]:
    """Return the claims by name."""
    schema = RESOURCES.parent / "schemas/claims.schema.yaml"
    claims = read_claims([RESOURCES / "claims/fairness_testing.tsv"], schema)
    return {claim.claim_id: claim for claim in claims if not claim.claim_id.startswith("adf-text-")}


def test_queries_never_stand_for_seconds(claims):
    cells = [c for c in claims.values() if c.item in ("Table V", "Table X") and c.is_counted]
    assert len(cells) == 24 + 18
    assert not any(claim.measure for claim in cells)
    queries = [claim for claim in claims.values() if "n_queries" in claim.measure]
    assert queries
    assert all(c.counts_as == "none" and c.caveat.startswith("weaker than printed") for c in queries)


def test_no_label_rule_stands_for_the_paper(claims):
    after = [c for n, c in claims.items() if n.startswith("adf-table12-") and not n.endswith("before")]
    assert len(after) == 18
    assert not any(claim.measure for claim in after)
    retrained = [
        c for c in claims.values() if c.measure and "retraining.tsv" in c.file and "share_after" in c.measure
    ]
    assert all(claim.caveat.startswith("tuned on this") for claim in retrained)


def test_levels_have_no_direction_and_orders_of_cells_are_not_counted(claims):
    for claim in claims.values():
        if claim.counts_as == "cell":
            assert not claim.direction, claim.claim_id
        if claim.claim_id.startswith("adf-order-table"):
            assert not claim.is_counted, claim.claim_id


def test_the_formula_of_the_example_has_the_printed_sample(claims):
    claim = claims["adf-example-seed"]
    parts = claim.measure.split(" + ")
    values = [int(part.rsplit("== ", 1)[1].rstrip(")")) for part in parts]
    assert str(values) == claim.published
