"""The registry of Brunet et al. 2019: complete, and every verdict of it can fail."""

import math
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml

from biaslab.audit.claims import read_claims
from biaslab.audit.expressions import Estimate
from biaslab.audit.measure import measure_claims
from biaslab.audit.verdicts import (
    DIRECTION_ONLY,
    HELD_ELSEWHERE,
    INCONCLUSIVE,
    NOT_REPRODUCED,
    REPRODUCED,
    judge,
    meets,
)
from biaslab.bias.names import EFFECTS
from origins_claims_data import write_setup, write_tables

ROOT = Path(__file__).parents[3]
RESOURCES = ROOT / "workflow/resources"
CLAIMS = read_claims([RESOURCES / "claims/origins.tsv"], ROOT / "workflow/schemas/claims.schema.yaml")
BY_ID = {claim.claim_id: claim for claim in CLAIMS}
COUNTED = [c for c in CLAIMS if c.measure and c.counts_as != "none"]
WITH_FORMULA = [c for c in COUNTED if re.search("[a-z]", c.null)]
SETUPS = ("simplewiki", "nyt")

ABOUT_THE_CORPUS = {
    # What the corpus, the seeds and GloVe itself give, whatever influence functions can do.
    *(c.claim_id for c in COUNTED if c.item in ("Table 2", "Table 3, Section 5.1")),
    *("s52-trainings-vary-weat1", "s52-trainings-vary-weat2", "s55-astronomy-rarest", "s55-hers-rarest"),
    *("s52-simplewiki-weat2-insignificant", "s54-word2vec-baseline"),
}


def parameters_of_the_paper():
    """The values of Table 3 as the table of setups writes them."""
    parameters = {setup: {} for setup in SETUPS}
    for claim in CLAIMS:
        if "table3_setups" in claim.file and claim.measure == "mean(value)" and claim.counts_as == "none":
            name = claim.select.rsplit("'", 2)[1]
            parameters[claim.setup][name] = f"{claim.value:.10g}"
    return parameters


def words_of_the_paper():
    found = {}
    for weat in ("weat1", "weat2"):
        sets = yaml.safe_load((RESOURCES / f"word_sets/{weat}.yaml").read_text())
        words = [*sets["targets"].values(), *sets["attributes"].values()]
        found |= {(weat, s): ", ".join(w) for s, w in zip("STAB", words, strict=True)}
    return found


def write_grid(results, **options):
    """Results of both paper presets, whose corpora have the published number of documents and words."""
    for setup in SETUPS:
        preset = yaml.safe_load((ROOT / f"workflow/presets/{setup}.yaml").read_text())
        perturbations = preset["origins"]["setups"][setup]["perturbations"]
        sizes = (perturbations[key] for key in ("sizes", "random_sizes", "random_sets"))
        write_setup(results, setup, *sizes, **options)
    write_tables(results, parameters_of_the_paper(), words_of_the_paper())
    return results


def verdicts(results, setups=SETUPS):
    return measure_claims(CLAIMS, results, {"origins": list(setups)}).set_index(["claim_id", "setup"])


def of_own_data(table, claim):
    rows = table.loc[claim.claim_id]
    return rows.loc[[claim.setup]] if claim.setups else rows


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    return verdicts(write_grid(tmp_path_factory.mktemp("published")))


@pytest.fixture(scope="module")
def nothing(tmp_path_factory):
    """Removals do nothing, and nothing is found."""
    return verdicts(write_grid(tmp_path_factory.mktemp("nothing"), works=False))


def test_every_measurable_claim_is_measured_on_its_setups(published):
    for claim in CLAIMS:
        if claim.measure:
            assert (of_own_data(published, claim)["verdict"] != "not_attempted").all(), claim.claim_id
    settings = [c.claim_id for c in CLAIMS if c.kind in ("setting", "identity") and c.measure]
    assert len(settings) > 40
    assert set(published.loc[settings, "verdict"]) == {"reproduced"}
    assert published.loc[("s52-random-sets", "simplewiki+nyt"), "measured"] == 36
    assert published.loc[("s52-targeted-sets", "simplewiki+nyt"), "measured"] == 40
    assert not published["reason"].eq("").any()


@pytest.mark.parametrize("claim", WITH_FORMULA, ids=lambda claim: claim.claim_id)
def test_a_formula_of_a_null_result_tells_the_papers_result_from_none(claim, published, nothing):
    found, null = of_own_data(published, claim), of_own_data(nothing, claim)
    assert not null["verdict"].isin([REPRODUCED, "not_attempted"]).any(), null[["reason", "null"]].to_dict()
    if claim.has_chance and found["ci_low"].isna().all():
        assert set(found["verdict"]) == {"inconclusive"}
    elif not claim.claim_id.startswith("t4-nyt"):  # one made r² cannot be near all four of Table 4
        assert set(found["verdict"]) == {REPRODUCED}, found[["reason", "null"]].to_dict()


def test_a_method_that_does_nothing_reproduces_nothing_that_is_its_own(nothing):
    rows = nothing[nothing["counts_as"] != "none"].reset_index()
    reproduced = set(rows.loc[rows["verdict"] == REPRODUCED, "claim_id"])
    assert reproduced <= ABOUT_THE_CORPUS
    assert "s52-trainings-vary-weat1" in reproduced


def test_what_does_not_change_counts_only_beside_a_change(published, nothing):
    name = ("s52-simplewiki-top1-unchanged", "simplewiki")
    assert published.loc[name, "verdict"] == REPRODUCED
    assert nothing.loc[name, "verdict"] == INCONCLUSIVE
    assert "own-targeted-sets-move" in nothing.loc[name, "reason"]


@pytest.mark.parametrize("claim", COUNTED, ids=lambda claim: claim.claim_id)
def test_a_constant_null_result_meets_no_claim(claim):
    if claim in WITH_FORMULA:
        return
    null = float(claim.null)
    assert not meets(claim, null)[0]
    assert judge(claim, Estimate(null), null)[0] not in (REPRODUCED, DIRECTION_ONLY)


def test_one_retraining_tells_nothing_about_significance(tmp_path):
    table = verdicts(write_grid(tmp_path, works=False, retrainings=1))
    tested = [c for c in CLAIMS if "welch_p" in c.measure and "perturbations" in c.file]
    assert len(tested) >= 10
    for claim in tested:
        assert set(of_own_data(table, claim)["verdict"]) == {"not_attempted"}, claim.claim_id
    assert "missing" in table.loc[("s52-random-significant", "simplewiki+nyt"), "reason"]


@pytest.mark.parametrize(
    ("setup", "name", "value"),
    [("simplewiki", "n_documents", 29343), ("nyt", "vocabulary_size", 213688), ("nyt", "epochs", 149)],
)
def test_other_data_or_settings_reproduce_no_number_of_a_table(tmp_path, setup, name, value):
    write_grid(tmp_path)
    parameters = parameters_of_the_paper()
    parameters[setup][name] = value
    write_tables(tmp_path, parameters, words_of_the_paper())
    table = verdicts(tmp_path).reset_index()
    cells = table[(table["counts_as"] == "cell") & (table["setup"] == setup)]
    assert len(cells) > 5
    assert not cells["verdict"].isin([REPRODUCED, NOT_REPRODUCED]).any()


def test_other_word_lists_reproduce_no_bias(tmp_path):
    write_grid(tmp_path)
    words = words_of_the_paper() | {("weat1", "S"): "science, technology"}
    write_tables(tmp_path, parameters_of_the_paper(), words)
    table = verdicts(tmp_path)
    row = table.loc[("t4-simplewiki-weat1", "simplewiki")]
    assert row["verdict"] == HELD_ELSEWHERE
    assert "ab-weat1-words" in row["reason"]
    assert table.loc[("t4-simplewiki-weat2", "simplewiki"), "verdict"] == REPRODUCED


def test_a_correlation_of_the_wrong_sign_is_not_the_published_one(tmp_path):
    write_grid(tmp_path)
    for setup in SETUPS:
        path = tmp_path / "origins" / setup / "correlation.tsv"
        fits = pd.read_csv(path, sep="\t")
        fits.assign(slope=-fits["slope"]).to_csv(path, sep="\t", index=False)
    table = verdicts(tmp_path)
    assert table.loc[("t4-simplewiki-weat1", "simplewiki"), "measured"] == -0.99
    rows = ["t4-simplewiki-weat1", "t4-nyt-weat1", "s52-nyt-r2-every-configuration"]
    assert set(table.loc[rows].query("data == 'own'")["verdict"]) == {"not_reproduced"}


def test_a_run_with_other_tests_and_sizes_gives_rows_and_no_error(tmp_path):
    write_setup(tmp_path, "sample", [10], [10], 1)
    write_tables(tmp_path, {"sample": {"n_documents": 40}}, words_of_the_paper())
    for path in (tmp_path / "origins/sample/differential_bias").iterdir():
        path.rename(path.with_name(f"own-{path.name}"))
    for path in (tmp_path / "origins/sample").glob("*.tsv"):
        path.write_text(path.read_text().replace("weat1", "jobs").replace("weat2", "names"))
    table = measure_claims(CLAIMS, tmp_path, {"origins": ["sample"]})
    assert {"simplewiki", "nyt", "simplewiki+nyt", "sample"} <= set(table["setup"])
    sample = table[table["setup"] == "sample"].set_index("claim_id")
    assert sample.loc["t2-simplewiki-weat1-mean", "verdict"] == "not_attempted"
    assert sample.loc["s52-simplewiki-r2-every-configuration", "verdict"] == HELD_ELSEWHERE
    counted = sample[sample["counts_as"].isin(["statement", "cell"])]
    assert not counted["verdict"].eq(REPRODUCED).any()


def printed_number(text):
    """The number a paper prints, or None when it prints words."""
    try:
        return float(text.replace("−", "-").replace(",", "").strip("±≥ %"))
    except ValueError:
        return None


def test_the_registry_repeats_what_is_printed():
    numbers = [claim for claim in CLAIMS if printed_number(claim.published) is not None]
    assert len(numbers) > 120
    unlike = [c.claim_id for c in numbers if c.measure and printed_number(c.published) != c.value]
    assert unlike == []
    assert all(c.tolerance == 0 for c in CLAIMS if c.kind in ("identity", "setting"))


def test_what_the_paper_does_not_say_is_not_counted():
    own = [c for c in CLAIMS if c.origin == "hypothesis"]
    assert len(own) >= 5
    assert all(c.counts_as == "none" for c in own)
    anywhere = {c.group for c in CLAIMS if c.setup == "any" and c.is_counted}
    assert anywhere == {"s52-trainings-vary", "s52-single-documents-are-hidden"}
    assert all(math.isfinite(c.value) for c in CLAIMS if c.measure)


def test_claims_and_pages_say_what_documents_do_to_the_bias():
    claims = (RESOURCES / "claims/origins.tsv").read_text(encoding="utf-8")
    assert set(re.findall(r"effect == '(\w+)'", claims)) == set(EFFECTS)
    described = (ROOT / "results/README.md").read_text(encoding="utf-8")
    rules = (ROOT / "workflow/rules/origins_pages.smk").read_text(encoding="utf-8")
    assert "context_{{weat}}_{effect}.html" in rules
    for effect in EFFECTS:
        assert f"context_TEST_{effect}.html" in described
