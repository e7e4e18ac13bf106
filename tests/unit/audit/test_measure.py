import math

import pandas as pd
import pytest
from scipy import stats

from audit_data import claim
from biaslab.audit.measure import COLUMNS, measure_claims
from biaslab.core.errors import InputError
from biaslab.core.files import write_text
from biaslab.core.io import write_parquet, write_tsv

WORDS_FILE, SPANNING = "origins/{setup}/words.tsv", "origins/tables/t.tsv"
WORDS = "name\thits\nours\t7\nours\t8\n\nbaseline\tNA\n"
JSON = '[{"hits": 7}, {"hits": "NA"}]'
NOT_A_NUMBER = r"hits is 'NA', which is no number; correct .* claims\.tsv, line 2, claim 't1-mean'"


@pytest.fixture
def results(tmp_path):
    for setup, values in (("small", [1.0, 2.0, 3.0]), ("big", [4.0, 5.0, 6.0])):
        write_tsv(
            tmp_path / "origins" / setup / "a.tsv", pd.DataFrame({"x": values, "name": ["a", "a", "b"]})
        )
    return tmp_path


def measure(results, *claims, setups=("small",), **options):
    return measure_claims(claims, results, {"origins": list(setups)}, **options)


def test_a_measured_claim_has_number_interval_and_source(results):
    write_text(results / "origins/small/figures/f.svg", "<svg/>")
    shown = "origins/{setup}/figures/*.svg origins/none.md"
    (row,) = measure(results, claim(shown=shown)).to_dict("records")
    assert list(row) == list(COLUMNS)
    assert (row["measured"], row["verdict"], row["setup"]) == (2.0, "reproduced", "small")
    assert row["ci_low"] == pytest.approx(2 - 4.302653 / math.sqrt(3))
    assert row["source"] == "origins/small/a.tsv origins/small/figures/f.svg"


def test_results_of_earlier_configurations_are_not_measured(results):
    write_tsv(results / "origins/small/models/2.tsv", pd.DataFrame({"x": [9.0]}))
    write_tsv(results / "origins/small/models/1.tsv", pd.DataFrame({"x": [7.0]}))
    models = claim(file="origins/{setup}/models/*.tsv")
    assert measure(results, models)["measured"].tolist() == [8.0]
    assert measure(results, models, planned=["origins/small/models/1.tsv"])["measured"].tolist() == [7.0]


def test_a_claim_about_any_data_is_measured_on_every_setup(results):
    table = measure(results, claim(setup="any"), setups=("small", "big"))
    assert table["setup"].tolist() == ["small", "big"]
    assert table["verdict"].tolist() == ["reproduced", "not_reproduced"]


def lost(*setups):
    """What of these setups cannot be measured since a step failed, and of an area that no claim is about."""
    reason = "step train failed: no memory"
    found = {f"origins/{setup}": {reason: [f"origins/{setup}/a.tsv"]} for setup in setups}
    return found | {"other/big": {"step mix failed": ["other/big/a.tsv", "origins/big/a.tsv"]}}


def test_a_claim_on_what_a_failed_step_cost_is_not_attempted_with_the_reason_and_others_are_measured(results):
    claims = claim(setup="small"), claim(claim_id="b", setup="any"), claim(claim_id="c", setup="small+big")
    setups = ("small", "big")
    table = measure(results, *claims, claim(claim_id="d", setup="big"), setups=setups, lacking=lost("small"))
    assert table["setup"].tolist() == ["small", "big", "small+big", "big"]
    assert [verdict == "not_attempted" for verdict in table["verdict"]] == [True, False, True, False]
    assert set(table["reason"][table["verdict"] == "not_attempted"]) == {
        "this run does without origins/small/a.tsv: step train failed: no memory"
    }


def test_where_nothing_is_left_every_row_says_what_failed(results):
    claims = claim(setup="nyt", other_data=True), claim(claim_id="b", setup="any")
    setups = {"origins": ["small", "big"]}
    table = measure_claims(claims, results, setups, {"nyt": "licensed"}, (), lost("small", "big"))
    assert set(table["verdict"]) == {"not_attempted"}
    assert table["setup"].tolist() == ["nyt", "any"]
    without = "this run does without origins/small/a.tsv: step train failed: no memory"
    assert table["reason"].tolist() == [f"setup nyt not run: licensed; {without}", without]


def test_a_setup_whose_own_file_is_missing_is_an_error(results):
    missing = claim(setup="small", other_data=True, file="origins/{setup}/b.tsv")
    with pytest.raises(InputError, match=r"small/b\.tsv: no such file"):
        measure(results, missing, setups=("big", "small"))


def test_other_data_are_measured_when_the_claim_allows_it(results):
    assert measure(results, claim(), setups=("small", "big"))["setup"].tolist() == ["small"]
    table = measure(results, claim(other_data=True, tolerance=9.0, null="-20"), setups=("big", "small"))
    assert table["setup"].tolist() == ["small", "big"]
    assert table["verdict"].tolist() == ["reproduced", "held_elsewhere"]
    assert table["data"].tolist() == ["own", "other"]
    assert table["reason"].iloc[1].endswith("; measured on other data than the paper's")


def test_a_setup_that_was_not_run_is_a_row_with_the_reason(results):
    licensed = claim(setup="nyt", reason="licensed")
    table = measure(results, licensed, claim(setup="wiki+nyt"), claim(setup="wiki"))
    assert set(table["verdict"]) == {"not_attempted"}
    reasons = ["setup nyt not run: licensed", "setups wiki and nyt not run", "setup wiki not run"]
    assert table["reason"].tolist() == reasons
    assert table["measured"].isna().all()
    table = measure(results, licensed, absent={"nyt": "no file at /data"})
    assert table["reason"].tolist() == ["setup nyt not run: no file at /data"]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"measure": "", "file": "", "value": None, "reason": "needs people"}, "needs people"),
        ({"select": "name == 'c'"}, "a.tsv of this setup: no row that the claim is about"),
        ({"min_rows": 4}, "a.tsv of this setup: 3 rows that the claim is about, which needs 4"),
    ],
)
def test_a_claim_without_measure_or_rows_is_a_row_with_the_reason(results, fields, reason):
    row = measure(results, claim(**fields)).iloc[0]
    assert (row["verdict"], row["reason"], row["setup"]) == ("not_attempted", reason, "small")


@pytest.mark.parametrize(("count", "verdict"), [(3.0, "reproduced"), (4.0, "held_elsewhere")])
def test_identity_claims_tell_whether_the_data_are_the_papers(results, count, verdict):
    identity = claim(claim_id="t3-rows", kind="identity", value=count, tolerance=0.0, measure="count()")
    setting = claim(claim_id="t3-minimum", kind="setting", value=1.0, measure="min(x)")
    claims = claim(), identity, setting, claim(claim_id="a", setup="any")
    table = measure(results, *claims).set_index("claim_id")
    of_identity = "reproduced" if count == 3 else "not_reproduced"
    assert table["verdict"].tolist() == [verdict, of_identity, "reproduced", "reproduced"]
    if count == 4:
        assert "(see t3-rows)" in table.loc["t1-mean", "reason"]
        assert table.loc[["t1-mean", "t3-rows", "a"], "data"].tolist() == ["other", "other", "any"]


@pytest.mark.parametrize(
    ("fields", "verdict"),
    [
        ({"kind": "setting", "value": 3.0, "measure": "count()"}, "reproduced"),
        ({"kind": "setting", "value": 4.0, "measure": "count()"}, "held_elsewhere"),
        ({"kind": "setting", "value": 3.0, "file": "origins/{setup}/none.tsv"}, "held_elsewhere"),
        ({"kind": "setting", "value": 3.0, "measure": "mean(x, x > 9)"}, "held_elsewhere"),
        ({"kind": "at_least", "value": 1.0, "measure": "min(x)", "null": "0"}, "reproduced"),
        ({"kind": "at_least", "value": 1.0, "measure": "min(x)", "null": "1"}, "inconclusive"),
    ],
)
def test_a_gate_that_does_not_hold_is_another_condition_or_leaves_all_open(results, fields, verdict):
    exact = {"claim_id": "gate", "tolerance": 0.0, "setup": "other", "interval": "exact"}
    gate = claim(**exact | fields)
    row = measure(results, claim(gates="gate"), gate).set_index("claim_id").loc["t1-mean"]
    assert row["verdict"] == verdict
    assert ("(see gate)" in row["reason"]) == (verdict != "reproduced")


def test_gates_are_measured_on_the_setup_of_the_row(results):
    write_tsv(results / "origins/big/a.tsv", pd.DataFrame({"x": [1.0, 2.0, 2.0, 3.0], "name": list("abcd")}))
    gate = claim(claim_id="gate", kind="setting", value=4.0, tolerance=0.0, measure="count()", setup="any")
    table = measure(results, claim(setup="any", gates="gate"), gate, setups=("small", "big"))
    rows = table[table["claim_id"] == "t1-mean"]
    assert rows["verdict"].tolist() == ["held_elsewhere", "reproduced"]


def test_a_missing_number_is_no_evidence(results):
    write_tsv(results / "origins/small/a.tsv", pd.DataFrame({"x": [1.0, None, 3.0]}))
    rows = measure(results, claim(), claim(claim_id="b", measure="count(x > 9)", kind="at_most"))
    assert set(rows["verdict"]) == {"not_attempted"}
    assert rows["reason"].iloc[0] == "a.tsv of this setup: x is missing in 1 of 3 rows"


def test_the_null_result_is_measured_on_the_same_rows(results):
    row = measure(results, claim(select="name == 'a'", value=1.5, null="max(x)", direction=True)).iloc[0]
    assert (row["null"], row["verdict"]) == (2, "inconclusive")
    assert row["reason"].endswith("but so would a null result (2)")
    missing = measure(results, claim(null="mean(x, x > 9)")).iloc[0]
    assert missing["verdict"] == "not_attempted"


def test_only_signs_have_a_p_value(results):
    write_tsv(results / "origins/small/a.tsv", pd.DataFrame({"x": [1.0, 2.0, 4.0]}))
    rows = measure(results, claim(), claim(claim_id="b", kind="sign", value=1.0, tolerance=0.0))
    assert rows["p_value"].isna().tolist() == [True, False]
    assert rows["p_value"].iloc[1] == pytest.approx(stats.ttest_1samp([1, 2, 4], 0).pvalue)


@pytest.mark.parametrize(
    ("fields", "setup", "measured"),
    [
        ({"select": "name == 'a'", "measure": "max(x)", "interval": "min(x), max(x)"}, "small", 2),
        ({"setup": "small+big"}, "small+big", 3.5),
        ({"file": SPANNING, "select": "setup == 'small'", "measure": "mean(value)"}, "small", 7),
        ({"file": WORDS_FILE, "select": "name == 'ours'", "measure": "mean(2 * hits)"}, "small", 15),
    ],
)
def test_rows_are_selected_from_the_files_of_setups(results, fields, setup, measured):
    """A word outside the selection changes no number."""
    spanning = pd.DataFrame({"setup": ["small", "big"], "value": ["7", "text"]})
    write_tsv(results / "origins/tables/t.tsv", spanning)
    write_text(results / "origins/small/words.tsv", WORDS)
    (row,) = measure(results, claim(**fields), setups=("small", "big")).itertuples()
    assert (row.setup, row.measured) == (setup, measured)


def test_files_are_put_together_and_only_those_with_rows_are_the_source(results):
    for name, bias in (("one", [0.0, 2.0]), ("two", [7.0, 9.0])):
        write_parquet(results / f"origins/small/bias/{name}.parquet", pd.DataFrame({"bias": bias, "z": 1}))
    files = "origins/{setup}/bias/*.parquet origins/{setup}/a.tsv"
    measure_ = "max(bias, present(bias)) - mean(x, name == 'a')"
    row = measure(results, claim(file=files, select="file == 'two' or name == 'a'", measure=measure_)).iloc[0]
    assert row["measured"] == 7.5
    assert row["source"] == "origins/small/bias/two.parquet origins/small/a.tsv"
    assert measure(results, claim(file=files, measure="count(file == 'one')"))["measured"].tolist() == [2]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"file": "origins/{setup}/none.tsv"}, r"small/none\.tsv: no such file; run .* or fix"),
        ({"file": "origins/{setup}/a.txt"}, "format is not supported"),
        ({"file": "origins/{setup}/bad.parquet"}, "not a readable Parquet table"),
        ({"file": WORDS_FILE, "measure": "mean(2 * hits)"}, rf"line 5: {NOT_A_NUMBER}"),
        ({"file": "origins/{setup}/a.json", "measure": "count(hits > 7)"}, rf"row 2: {NOT_A_NUMBER}"),
        ({"file": "a**b.tsv"}, r"'a\*\*b\.tsv' is no pattern of files"),
        ({"measure": "mean(z)"}, r"claims\.tsv, line 2, claim 't1-mean': the column 'z' is missing"),
        ({"measure": "mean(x"}, r"claim 't1-mean': 'mean\(x' is no formula"),
        ({"measure": "x"}, r"gives no single number"),
        ({"select": "x + 1"}, r"the selection is no condition"),
        ({"select": "name < 3"}, r"a\.tsv, line 2: name is 'a', which is no number; .*claims\.tsv, line 2"),
        ({"interval": "min(x)"}, r"is no interval"),
    ],
)
def test_broken_claims_are_refused(results, fields, message):
    for name, text in (("a.txt", "x"), ("bad.parquet", "x"), ("words.tsv", WORDS), ("a.json", JSON)):
        write_text(results / "origins/small" / name, text)
    with pytest.raises(InputError, match=message):
        measure(results, claim(**fields))


@pytest.mark.parametrize(("most", "verdict"), [(9.0, "reproduced"), (0.5, "not_attempted")])
def test_a_claim_whose_condition_does_not_hold_has_no_verdict(results, most, verdict):
    gate = claim(claim_id="learns", kind="at_most", value=most, counts_as="condition", tolerance=0.0, null="")
    setting = claim(claim_id="t3-rows", kind="setting", value=3.0, measure="count()", gates="learns")
    table = measure(results, claim(gates="learns"), gate, setting).set_index("claim_id")
    assert table.loc["t1-mean", "verdict"] == verdict
    assert table.loc["t3-rows", "verdict"] == ("reproduced" if most == 9 else "inconclusive")
    if verdict == "not_attempted":
        assert table.loc["t1-mean", "reason"].endswith("(see learns)")


def test_nothing_of_a_paper_is_measured_on_made_up_data(results):
    setting = claim(claim_id="t3-rows", kind="setting", value=3.0, measure="count()", setup="any")
    claims = claim(other_data=True, tolerance=9.0, null="-20"), setting
    table = measure(results, *claims, setups=("small", "big"), made_up={("origins", "big")})
    found = table.set_index(["claim_id", "setup"])
    assert found.loc[("t1-mean", "small"), "verdict"] == "reproduced"
    assert found.loc[("t1-mean", "big"), "verdict"] == "not_attempted"
    assert "made-up data" in found.loc[("t1-mean", "big"), "reason"]
    assert "not_attempted" not in set(table.loc[table["claim_id"] == "t3-rows", "verdict"])
