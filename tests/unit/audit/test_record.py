"""The recorded run: every number again by a literal reading, and what mutants of its results still get."""

import importlib.util
import math
import zipfile

import numpy as np
import pandas as pd
import pytest

from audit_data import with_gates
from biaslab.audit.claims import COUNTED, EXACT, EXEMPT_KINDS, FOR_CHANCE, GIVEN, JUDGED
from biaslab.audit.measure import measure_claims
from biaslab.audit.own import compare_frozen
from biaslab.audit.verdicts import DIRECTION_ONLY, NOT_ATTEMPTED, REPRODUCED
from biaslab.core.io import read_tsv, write_tsv
from consoles import ROOT
from lanes import first_quick
from naive import audit as naive

_SPEC = importlib.util.spec_from_file_location("generated", ROOT / "docs/generated.py")
generated = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(generated)
CLAIMS = {claim.claim_id: claim for claim in generated.registered()}
RUN = "public"


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recorded")
    with zipfile.ZipFile(ROOT / f"docs/records/{RUN}.zip") as archive:
        archive.extractall(folder)
    return folder


@pytest.mark.parametrize(
    "path", sorted((ROOT / "docs/records").glob("*.frozen.json")), ids=lambda path: path.name
)
def test_what_was_frozen_before_a_run_has_not_changed(path):
    rows = generated.claims_of(path.name.split(".")[0])
    assert len(rows) > 10
    assert compare_frozen(path, rows).changes == ()
    assert compare_frozen(path, rows[1:]).changes == (f"{rows[0].claim_id}: removed",)


def attempted():
    table = generated.measured(RUN)
    return table[table["verdict"] != NOT_ATTEMPTED]


@pytest.mark.slow
def test_a_literal_reading_gives_every_recorded_number(results):
    wrong, intervals = [], 0
    for row in attempted().itertuples():
        claim = CLAIMS[row.claim_id]
        rows = naive.chosen(claim.select, naive.rows_of(results, claim.file, row.setup.split("+")))
        pairs = [(row.measured, naive.number(claim.measure, rows))]
        if claim.null:
            pairs.append((row.null, naive.number(claim.null, rows)))
        try:
            ends = sorted(naive.evaluate(claim.ends, rows)) if claim.ends else None
            ends = ends or naive.interval(claim.measure, rows)
        except naive.MissingError:
            ends = None
            assert math.isnan(row.ci_low)
        if ends is not None:
            intervals += 1
            pairs += zip((row.ci_low, row.ci_high), ends, strict=True)
        if not all(math.isclose(a, b, rel_tol=1e-8, abs_tol=1e-9) for a, b in pairs):
            wrong.append((row.claim_id, row.setup, pairs))
    assert wrong == []
    assert len(attempted()) > 700
    assert intervals > 100


def test_what_is_reproduced_has_an_interval_or_says_that_there_can_be_none():
    found = attempted()
    found = found[(found["verdict"] == REPRODUCED) & found["counts_as"].isin(JUDGED)]
    found = found[found["ci_low"].isna() & ~found["kind"].isin(EXEMPT_KINDS)]
    drawn = found[(found["interval"] != EXACT) & (found["evidence"] != GIVEN)]
    drawn = drawn[~drawn["rationale"].str.startswith(FOR_CHANCE)]
    assert drawn["claim_id"].tolist() == []
    assert len(found) > 100


def test_what_is_missing_is_missing_to_a_literal_reading_too(results):
    table = generated.measured(RUN)
    missing = table[table["reason"].str.contains(" of this setup: ")]
    assert len(missing) > 3
    for row in missing.itertuples():
        claim = CLAIMS[row.claim_id]
        rows = naive.rows_of(results, claim.file, row.setup.split("+"))
        try:
            rows = naive.chosen(claim.select, rows)
            assert len(rows) < claim.min_rows or math.isnan(naive.number(claim.measure, rows))
        except naive.MissingError:
            pass


# --- mutants: what is found when there is no effect, when methods change places, when numbers do

METHODS = {"stage": "before", "algorithm": "score_only", "tester": "aequitas"}
"""Columns that name a method, and the method that does nothing, or the paper's baseline."""


def mutated(results, folder, change):
    """What the audit finds on the recorded tables after a change: the rows that were worth something."""
    for path in results.rglob("*.tsv"):
        write_tsv(folder / path.relative_to(results), change(path, read_tsv(path)))
    for path in results.rglob("*.parquet"):
        (folder / path.relative_to(results)).parent.mkdir(parents=True, exist_ok=True)
        (folder / path.relative_to(results)).write_bytes(path.read_bytes())
    made = generated._made(RUN)
    keys = ["claim_id", "setup"]
    before = attempted().set_index(keys).loc[lambda table: table["counts_as"].isin(COUNTED)]
    before = before[before["verdict"].isin([REPRODUCED, DIRECTION_ONLY])]
    claims = with_gates(CLAIMS, before.index.get_level_values("claim_id"))
    found = measure_claims(claims, folder, made["setups"], lacking=made["lacking"]).set_index(keys)
    found = found.loc[before.index]
    return found.assign(touched=found["measured"] != before["measured"])


def column_of(table):
    return next(
        (name for name, idle in METHODS.items() if name in table and (table[name] == idle).any()), None
    )


def no_effect(path, table):
    """Every method has the rows of the one that does nothing; what compares methods finds none different."""
    if path.name == "averages.tsv":
        is_ratio = table["measure"].str.contains("_ratio_")
        idle = table.assign(**{name: is_ratio.astype(float) for name in ("mean", "ci_low", "ci_high")})
        # one tester is said to slow down, the other not to
        idle["mean"] = idle["mean"].mask(table["measure"].str.match("growth_.*_aequitas"), 1.0)
        return idle.assign(mean=idle["mean"].mask(table["measure"].str.match("growth_.*_adf"), 0.9))
    if path.parent.name == "ranking" and path.name == "differences.tsv":
        return table.assign(mean=0.0, ci_low=-1e-9, ci_high=1e-9)
    if path.name == "lambda_path.tsv":
        return table.assign(direct_bias=table["direct_bias"].max())
    if path.name == "retraining.tsv" and "share_before" in table:
        return table.assign(share_after=table["share_before"])
    name = column_of(table)
    if name is None:
        return table
    idle = table[table[name] == METHODS[name]]
    return pd.concat([idle.assign(**{name: method}) for method in table[name].unique()], ignore_index=True)


def swapped(path, table):
    """The method that does nothing and another change places, or all lie as far on its other side."""
    if path.name == "averages.tsv" and "measure" in table:
        sign = np.where(table["measure"].str.contains("_increase_"), -1.0, 1.0)
        ratio = table["measure"].str.contains("_ratio_")
        turned = {
            name: (sign * table[name]).where(~ratio, 1 / table[name])
            for name in ("mean", "ci_low", "ci_high")
        }
        names = {"success_adf": "success_aequitas", "success_aequitas": "success_adf"}
        return table.assign(**turned, measure=table["measure"].replace(names))
    if path.parent.name == "ranking" and path.name == "differences.tsv":
        return table.assign(mean=-table["mean"], ci_low=-table["ci_high"], ci_high=-table["ci_low"])
    if path.name == "retraining.tsv" and "share_before" in table:
        return table.rename(columns={"share_before": "share_after", "share_after": "share_before"})
    if path.name == "lambda_path.tsv":
        return table.assign(direct_bias=table["direct_bias"].max() - table["direct_bias"])
    if path.name == "simulation.tsv":
        place = table.groupby(["measure", "algorithm"]).cumcount()
        key = pd.MultiIndex.from_arrays([table["measure"], place])
        idle = table["algorithm"] == "score_only"
        base = table["mean"].set_axis(key)[idle.to_numpy()].reindex(key).to_numpy()
        ends = {"mean": "mean", "ci_low": "ci_high", "ci_high": "ci_low"}
        return table.assign(**{name: 2 * base - table[other] for name, other in ends.items()})
    name = column_of(table)
    if name is None:
        return table
    idle = METHODS[name]
    other = {"before": "hard", "score_only": "det_cons", "aequitas": "adf"}[idle]
    return table.assign(**{name: table[name].replace({idle: other, other: idle})})


def shuffled(seed):
    def change(path, table):
        numbers = table.select_dtypes("number").columns
        copies = 3 if path.name == "averages.tsv" else 1  # of each average one for each classifier
        order = copies * np.random.default_rng(seed).permutation(len(table) // copies).repeat(copies)
        return table.assign(**{name: table[name].to_numpy()[order] for name in numbers})

    return change


def survivors(found, *verdicts):
    """The rows whose number a mutant changes and that are still worth something."""
    return found[found["touched"] & found["verdict"].isin(verdicts)]


@pytest.mark.slow
@pytest.mark.parametrize("change", first_quick([no_effect, swapped]))
def test_what_survives_a_mutant_says_that_nothing_could_have_failed_it(results, tmp_path, change):
    found = mutated(results, tmp_path, change)
    assert found["touched"].sum() > 60
    left = survivors(found, REPRODUCED, DIRECTION_ONLY)
    assert left[left["evidence"] != GIVEN].index.tolist() == []


@pytest.mark.slow
def test_what_is_reproduced_however_numbers_are_shuffled_says_so(results, tmp_path):
    runs = [mutated(results, tmp_path / str(seed), shuffled(seed)) for seed in range(6)]
    always = set.intersection(*(set(survivors(found, REPRODUCED).index) for found in runs))
    assert {key for key in always if runs[0].loc[key, "evidence"] != GIVEN} == set()
    assert max(len(survivors(found, REPRODUCED)) for found in runs) < 0.1 * len(runs[0])
