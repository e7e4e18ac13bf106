"""Tests of the registry of claims: each cell has a row, which the paper's numbers meet and no effect does."""

import math
import re
from dataclasses import replace
from pathlib import Path

import pytest

import hate_speech_claims_data as data
from biaslab.audit.claims import read_claims
from biaslab.audit.expressions import Estimate
from biaslab.audit.measure import (
    DIRECTION_ONLY,
    NOT_ATTEMPTED,
    NOT_REPRODUCED,
    REPRODUCED,
    judge,
    measure_claims,
)

ROOT = Path(__file__).parents[3]
REGISTRY = ROOT / "workflow/resources/claims/hate_speech.tsv"
SCHEMA = ROOT / "workflow/schemas/claims.schema.yaml"
CLAIMS = read_claims([REGISTRY], SCHEMA)
MEASURED = [claim for claim in CLAIMS if claim.measure]
CORPUS_KINDS = ("identity", "setting")
EFFECTS = {claim.claim_id for claim in MEASURED if claim.kind not in CORPUS_KINDS}
"""The rows on effects and scores; the others are counts of corpora and numbers that a configuration fixes."""

LEVELS = {
    claim.claim_id
    for claim in MEASURED
    if re.fullmatch(r"t[15]-.*-(bow-[a-z0-9]+|vanilla-[a-z0-9]+-sd)", claim.claim_id)
    and "bow-wr" not in claim.claim_id
}
"""The rows on a baseline itself, which a method that is no better than the baseline leaves as they are."""

AGAINST_ITSELF = {"hate-stormfront-share", "hate-cost-oc"}
"""What the paper says in the text and its own counts and Table 6 do not: 80/20, and twice the time."""

SLUGS = tuple(method.replace(".", "-") for method in data.METHODS)
NOT_SAID_OF_PEOPLE = {
    *("mosques", "nihon", "nuke", "muhammad", "nitrous", "traitor", "blamed", "alive", "undermine"),
    *("punished", "infection", "accusing", "poisoned", "ought", "rotting", "stayed", "destroys"),
}
"""The words of Table 2 that the registry writes beside identifiers; others have their position alone."""


def named_words(identifiers):
    """Return the rank changes of Table 2's words that the registry names, identifiers or others."""
    words = {}
    for claim in CLAIMS:
        found = re.match(r"word == '(\w+)'", claim.select)
        if found and claim.claim_id.startswith("t2-") and ("is_identifier" in claim.select) == identifiers:
            words[found[1]] = int(claim.value)
    return words


def paper(unit):
    return data.of_the_paper(unit, named_words(True) | named_words(False), tuple(named_words(True)))


def verdicts(results, *findings, claims=CLAIMS):
    """Return the verdicts on the setups' own rows by claim, of results that are written first."""
    for one in findings:
        data.write_results(results, one)
    return measured(results, [one.unit for one in findings], claims)


def measured(results, units, claims=CLAIMS):
    table = measure_claims(claims, results, {"hate_speech": units})
    own = table[(table["setup"] == table["claim_id"].map(SETUPS)) | table["claim_id"].map(SETUPS).eq("any")]
    return own.groupby("claim_id")["verdict"].agg(lambda found: "/".join(sorted(set(found)))).to_dict()


SETUPS = {claim.claim_id: claim.setup for claim in CLAIMS}
UNGATED = [claim for claim in CLAIMS if claim.kind != "identity"]
"""Without the counts of the corpora no data are other data: what counts is the number alone."""

NULLS = {
    "like-bert": lambda findings: data.without_effect(findings, "vanilla"),
    "like-bow": lambda findings: data.without_effect(findings, "bow"),
    "everything-is-hate": lambda findings: data.uninformed(findings, 1.0),
    "nothing-is-hate": lambda findings: data.uninformed(findings, 0.0),
    "a-coin": lambda findings: data.uninformed(findings, 0.5),
}


def test_every_cell_has_a_row():
    ids = {claim.claim_id for claim in CLAIMS}
    metrics = ("precision", "recall", "f1", "news")
    table1 = {f"t1-{u}-{m}-{k}" for u in data.UNITS for m in SLUGS for k in metrics}
    crossings = ("ghc-stormfront", "stormfront-ghc")
    table5 = {f"t5-{c}-{m}-f1" for c in crossings for m in SLUGS}
    spreads = {f"{cell}-sd" for cell in table1 | table5 if "-bow-" not in cell}
    table2 = {f"t2-{column}-{i}" for column in ("bert", "reg") for i in range(1, 21)}
    table6 = {f"t6-{m}-{k}" for m in ("bert", "oc", "soc") for k in ("time", "memory")}
    assert (len(table1), len(table5), len(spreads)) == (56, 14, 50)
    assert table1 | table5 | spreads | table2 | table6 <= ids
    tables = {claim_id for claim_id in ids if re.match(r"t\d-", claim_id)}
    statements_on_tables = {"t2-bert-identifiers", "t2-reg-identifiers", "t3-identifiers", "t4-identifiers"}
    assert tables == table1 | table5 | spreads | table2 | table6 | statements_on_tables


def test_identifiers_are_unique_among_all_papers():
    assert len(read_claims(sorted(REGISTRY.parent.glob("*.tsv")), SCHEMA)) > len(CLAIMS)


def test_table_2_is_named_by_position_where_a_word_is_said_of_people():
    assert set(named_words(False)) == NOT_SAID_OF_PEOPLE
    assert len(named_words(True)) == 5
    others = [c for c in CLAIMS if re.fullmatch(r"t2-(bert|reg)-\d+", c.claim_id) and not c.measure]
    assert len(others) == 40 - 5 - len(NOT_SAID_OF_PEOPLE)
    for claim in others:
        assert re.fullmatch(
            r"Change of rank by mean SOC importance of the word in row \d+ of the column (BERT|Reg\.)",
            claim.statement,
        )


def test_the_papers_own_numbers_meet_every_row_but_where_it_contradicts_itself(tmp_path):
    found = verdicts(tmp_path, *map(paper, data.UNITS))
    unmet = {c.claim_id for c in MEASURED if found[c.claim_id] not in (REPRODUCED, DIRECTION_ONLY)}
    assert unmet == AGAINST_ITSELF
    assert found["hate-news-ghc"] == found["hate-ghc-posts"] == found["hate-runs"] == REPRODUCED


def test_every_cell_is_measured_as_what_the_registry_says_and_lies_in_its_direction(tmp_path):
    for unit in data.UNITS:
        data.write_results(tmp_path, paper(unit))
    table = measure_claims(CLAIMS, tmp_path, {"hate_speech": list(data.UNITS)})
    own = table[table["setup"] == table["claim_id"].map(SETUPS)].set_index("claim_id")["measured"]
    cells = [claim for claim in MEASURED if re.match(r"t[1-5]-", claim.claim_id)]
    assert len(cells) > 75
    for claim in cells:
        # Numbers of two digits, as the paper prints them.
        assert own[claim.claim_id] == pytest.approx(claim.value, abs=0.006), claim.claim_id
        judged = judge(replace(claim, value=math.inf, tolerance=0), Estimate(claim.value))
        assert judged[0] == (DIRECTION_ONLY if claim.direction else NOT_REPRODUCED), claim.claim_id


@pytest.mark.parametrize("null", NULLS)
def test_no_effect_meets_no_row_and_no_direction(tmp_path, null):
    found = verdicts(tmp_path, *(NULLS[null](paper(unit)) for unit in data.UNITS), claims=UNGATED)
    tested = EFFECTS - LEVELS if null.startswith("like") else EFFECTS
    assert {c: found[c] for c in tested if found[c] not in (NOT_REPRODUCED, NOT_ATTEMPTED)} == {}
    # Ratios of spreads that are zero, correlations of constants and shares of no errors are missing numbers.
    missing = {c for c in tested if found[c] == NOT_ATTEMPTED and not c.endswith("-sd")}
    shares = {f"hate-false-positives-{unit}" for unit in data.UNITS} if null == "nothing-is-hate" else set()
    assert missing == {"hate-removal-tradeoff"} | shares


def test_equal_seeds_meet_no_row_on_spreads(tmp_path):
    alike = [
        replace(one, scores={k: {n: (m, 0.0) for n, (m, _) in v.items()} for k, v in one.scores.items()})
        for one in map(paper, data.UNITS)
    ]
    found = verdicts(tmp_path, *alike, claims=UNGATED)
    spreads = {claim_id for claim_id in EFFECTS if claim_id.endswith("-sd")}
    assert len(spreads) > 15
    assert {found[claim_id] for claim_id in spreads} == {NOT_REPRODUCED, NOT_ATTEMPTED}


def test_empty_tables_are_never_judged(tmp_path):
    for unit in data.UNITS:
        data.empty(data.write_results(tmp_path, paper(unit)))
    assert set(measured(tmp_path, data.UNITS).values()) == {NOT_ATTEMPTED}


@pytest.mark.parametrize("method", data.NETWORKS)
def test_a_method_that_is_missing_is_never_judged(tmp_path, method):
    for unit in data.UNITS:
        folder = data.write_results(tmp_path, paper(unit))
        for name in ("metrics", "differences", "importance", "attributions", "cost"):
            table = data.read_tsv(folder / f"{name}.tsv")
            data.write_tsv(folder / f"{name}.tsv", table[table["method"] != method])
    found = measured(tmp_path, data.UNITS)
    alone = [c for c in MEASURED if f"method == '{method}'" in c.measure + c.select]
    assert len(alone) > 3
    assert {found[c.claim_id] for c in alone} == {NOT_ATTEMPTED}


def test_other_data_than_the_papers_reproduce_nothing_but_counts_and_settings(tmp_path):
    ghc, stormfront = map(paper, data.UNITS)
    release = replace(ghc, splits=ghc.splits | {"train": (19832, 1772), "test": (5510, 509)})
    found = verdicts(tmp_path, release, replace(stormfront, n_news=4627))
    assert {found[claim_id] for claim_id in EFFECTS} <= {DIRECTION_ONLY, NOT_REPRODUCED}
    assert found["t1-stormfront-bow-f1"] == found["t1-ghc-wr-f1"] == DIRECTION_ONLY


def test_a_run_of_stormfront_alone_holds_statements_on_ghc_in_direction_at_most(tmp_path):
    data.write_results(tmp_path, replace(paper("stormfront"), n_news=4627))
    table = measure_claims(CLAIMS, tmp_path, {"hate_speech": ["stormfront"]}).set_index("claim_id")
    assert table["reason"].ne("").all()
    elsewhere = table[(table["setup"] == "stormfront") & (table.index.map(SETUPS) == "ghc")]
    assert {"hate-attention", "hate-identity-importance", "hate-removal-tradeoff"} <= set(elsewhere.index)
    assert set(elsewhere["verdict"]) <= {DIRECTION_ONLY, NOT_REPRODUCED, NOT_ATTEMPTED}
    assert table.loc["t1-ghc-wr-f1", "verdict"] == NOT_ATTEMPTED
