"""Claims on texts: each printed number has a row, averages follow from cells, no null meets a direction."""

import re
import statistics
from pathlib import Path

import pytest

from biaslab.audit.claims import read_claims
from biaslab.audit.measure import measure_claims
from biaslab.core.io import read_tsv, write_tsv
from biaslab.run.reports import write_report
from fairness_text_report_data import change, units_of, write_results
from report_data import CLAIMS, report_area

SCHEMA = CLAIMS.parents[1] / "schemas/claims.schema.yaml"
TEXTS = {
    claim.claim_id: claim
    for claim in read_claims([CLAIMS / "fairness_testing.tsv"], SCHEMA)
    if claim.claim_id.startswith("adf-text-")
}
MEASURED = {name: claim for name, claim in TEXTS.items() if claim.measure}
GATE, REPETITIONS = "adf-text-wikipedia-records", "adf-text-repetitions"
EFFECTS = set(MEASURED) - {GATE, REPETITIONS}
LOCAL_PHASE = "adf-text-local-necessary"
"""The one statement on ADF alone: it holds also where random perturbation finds as much."""

SETTINGS = [
    f"{corpus}-{model}-{feature}"
    for corpus in ("wikipedia", "jigsaw")
    for model in ("lstm", "gru")
    for feature in ("country", "ethnic", "race", "religion")
]
COUNTS = ("seed", "raw", "rp", "asc", "adf-asc", "hf", "adf-hf", "local-rp", "local-adf")
RATES = ("success-rp", "success-adf")
METRICS = ("l0", "l2", "jaccard", "bleu", "similarity")
CORRECTED = {"adf-text-table11-wikipedia-gru-country-adf-asc": 1142.58,
             "adf-text-table11-wikipedia-gru-ethnic-adf-asc": 1324.55}  # fmt: skip
"""The cells of Table XI that the authors' own sheet has otherwise."""


def verdicts(results: Path, unit: str = "text-stormfront") -> dict[str, str]:
    """Return the verdicts on the stand-in for the paper's data."""
    units = units_of([unit.removeprefix("text-")])
    write_report(report_area("fairness_testing"), units, results, ["text_averages"])
    table = measure_claims(list(TEXTS.values()), results, {"fairness_testing": [unit]})
    own = table[table["setup"] == unit]
    return own.set_index("claim_id")["verdict"].to_dict()


def folder(results: Path, effect: float = 1.0) -> Path:
    """Write the results of one corpus; return their folder."""
    write_results(results / "fairness_testing", ["stormfront"], effect)
    return results / "fairness_testing/text-stormfront"


def column(table: str, name: str) -> list[float]:
    """Return the cells of a column of one of the paper's tables, over its 16 rows."""
    return [TEXTS[f"adf-text-{table}-{setting}-{name}"].value for setting in SETTINGS]


def mean_ratio(above: list[float], below: list[float]) -> float:
    return statistics.mean(a / b for a, b in zip(above, below, strict=True))


def printed(name: str) -> float:
    return TEXTS[f"adf-text-{name}"].value


def test_every_cell_has_a_row():
    assert len(SETTINGS) == 16
    expected = {f"adf-text-table3-{c}-{m}" for c in ("wikipedia", "jigsaw") for m in ("lstm", "gru")}
    expected |= {f"adf-text-table8-{s}-{name}" for s in SETTINGS for name in (*COUNTS, *RATES)}
    expected |= {f"adf-text-table9-{s}-{m}" for s in ("asc", "adf-asc", "hf", "adf-hf") for m in METRICS}
    expected |= {f"adf-text-table11-{s}-{name}" for s in SETTINGS for name in ("rp", "adf-asc")}
    expected |= {f"adf-text-table13-{s}-{name}" for s in SETTINGS for name in ("augmented", "certified")}
    expected |= {
        f"adf-text-table14-{s}-{name}"
        for s in ("wikipedia-lstm-race", "jigsaw-gru-ethnic")
        for name in ("asc", "hf", "adf-hf")
    }
    assert len(expected) == 4 + 16 * 11 + 20 + 32 + 32 + 6
    assert {name for name in TEXTS if re.match(r"adf-text-table\d", name)} == expected


def test_cells_of_the_papers_corpora_are_not_measured_and_say_why():
    cells = [claim for name, claim in TEXTS.items() if re.match(r"adf-text-table\d", name)]
    assert not [claim.claim_id for claim in cells if claim.measure or not claim.reason]
    assert all(claim.value is not None for claim in cells)
    assert {claim.setup for claim in cells} == {"text-wikipedia", "text-jigsaw"}


def test_every_measured_claim_may_be_measured_on_other_corpora_and_needs_an_effect():
    for name in EFFECTS:
        claim = MEASURED[name]
        assert claim.other_data, name
        assert claim.kind == "sign" or claim.direction in ("> 0", "> 1"), name
        assert "unit == setup" in claim.select, name


@pytest.mark.parametrize(
    ("name", "above", "below", "increase"),
    [
        ("average-found-ratio-rp", "adf-asc", "rp", False),
        ("average-found-increase-asc", "adf-asc", "asc", True),
        ("average-found-increase-hf", "adf-hf", "hf", True),
        ("average-local-ratio", "local-adf", "local-rp", False),
    ],
)
def test_averages_of_table_8_follow_from_its_cells(name, above, below, increase):
    ratio = mean_ratio(column("table8", above), column("table8", below))
    assert printed(name) == pytest.approx(100 * (ratio - 1) if increase else ratio, abs=0.005)


def test_success_rates_of_table_8_follow_from_its_cells():
    rp, adf = (statistics.mean(column("table8", name)) for name in RATES)
    assert printed("average-success-rp") == pytest.approx(rp, abs=0.005)
    assert printed("average-success-adf") == pytest.approx(adf, abs=0.05)
    # The difference of the rounded averages; that of the cells is 9.02.
    assert printed("average-success-gain") == pytest.approx(91.7 - 82.69)
    assert adf - rp == pytest.approx(9.02, abs=0.005)


def test_the_search_space_of_the_abstract_is_nearly_that_of_table_8():
    found, rates = ([column("table8", f"{what}-{t}") for t in ("adf", "rp")] for what in ("local", "success"))
    adf, rp = ([n / r for n, r in zip(*both, strict=True)] for both in zip(found, rates, strict=True))
    assert mean_ratio(adf, rp) == pytest.approx(2.40, abs=0.005)
    assert printed("average-local-space-ratio") == 2.38
    assert "2.40" in TEXTS["adf-text-average-local-space-ratio"].statement


def test_no_more_than_211_is_true_of_one_column_alone():
    assert printed("at-most") == max(column("table8", "adf-asc"))
    assert max(column("table8", "adf-hf")) == 429
    assert "429" in TEXTS["adf-text-at-most"].reason


def test_orders_of_table_8_hold_in_every_row():
    for above, below in (("adf-asc", "rp"), ("adf-asc", "asc"), ("adf-hf", "hf"), ("hf", "asc")):
        pairs = zip(column("table8", above), column("table8", below), strict=True)
        exceptions = [setting for setting, (a, b) in zip(SETTINGS, pairs, strict=True) if a <= b]
        assert exceptions == [], (above, below)


def test_seconds_are_those_of_the_sheet_and_not_of_table_11():
    rp, as_printed = column("table11", "rp"), column("table11", "adf-asc")
    names = [f"adf-text-table11-{setting}-adf-asc" for setting in SETTINGS]
    sheet = [CORRECTED.get(name, value) for name, value in zip(names, as_printed, strict=True)]
    assert printed("seconds") == pytest.approx(statistics.mean(sheet), abs=0.05)
    assert statistics.mean(as_printed) == pytest.approx(1198.1, abs=0.05)
    assert printed("random-seconds") == pytest.approx(100 * (1 - mean_ratio(rp, sheet)), abs=0.05)
    assert mean_ratio(rp, as_printed) == pytest.approx(1.040, abs=0.0005)
    assert 1 - statistics.mean(rp) / statistics.mean(sheet) == pytest.approx(0.10, abs=0.005)
    for name, value in CORRECTED.items():
        assert f"{value}" in TEXTS[name].reason
    assert "1198.1" in TEXTS["adf-text-seconds"].reason


def test_averages_of_table_13_follow_from_its_cells():
    augmented, certified = column("table13", "augmented"), column("table13", "certified")
    assert printed("average-improvement-augmented") == pytest.approx(statistics.mean(augmented), abs=0.05)
    assert printed("average-improvement-certified") == pytest.approx(statistics.mean(certified), abs=0.05)
    assert printed("average-improvement-best") == max(augmented)


def test_table_14_contradicts_what_is_said_of_it_in_one_cell():
    asc = printed("table14-jigsaw-gru-ethnic-asc")
    assert asc > printed("table13-jigsaw-gru-ethnic-augmented")
    assert "56.6" in TEXTS["adf-text-table14-jigsaw-gru-ethnic-asc"].reason
    for setting in ("wikipedia-lstm-race", "jigsaw-gru-ethnic"):
        asc, hf, twin = (printed(f"table14-{setting}-{name}") for name in ("asc", "hf", "adf-hf"))
        assert asc < hf < twin


@pytest.mark.parametrize("attack", ["asc", "hf"])
@pytest.mark.parametrize("metric", METRICS)
def test_differences_of_table_9_follow_from_its_cells(attack, metric):
    before, after = (printed(f"table9-{name}-{metric}") for name in (attack, f"adf-{attack}"))
    nearer = before - after if metric in ("l0", "l2") else after - before
    assert printed(f"average-global-nearer-{attack}-{metric}") == pytest.approx(nearer, abs=0.0065)


def test_an_effect_on_other_data_holds_in_direction_at_most(tmp_path):
    folder(tmp_path)
    found = verdicts(tmp_path)
    assert {found[name] for name in EFFECTS} == {"direction_only"}
    assert found[GATE] == "not_reproduced"


def test_an_effect_on_the_papers_data_reproduces_every_order(tmp_path):
    path = folder(tmp_path) / "texts.tsv"
    texts = read_tsv(path)
    is_one = (texts["feature"] == "all") & (texts["part"] == "train")
    texts.loc[is_one, "n_texts"] += 127_000 - texts.loc[texts["feature"] == "all", "n_texts"][:3].sum()
    write_tsv(path, texts)
    found = verdicts(tmp_path)
    assert found[GATE] == "reproduced"
    signs = {name for name in EFFECTS if MEASURED[name].kind == "sign"}
    assert len(signs) > 10
    assert {found[name] for name in signs} == {"reproduced"}


def test_equal_twins_meet_no_claim(tmp_path):
    folder(tmp_path, effect=0)
    found = verdicts(tmp_path)
    assert {found[name] for name in EFFECTS - {LOCAL_PHASE}} == {"not_reproduced"}


def test_the_contrary_meets_no_claim(tmp_path):
    folder(tmp_path, effect=-0.1)
    found = verdicts(tmp_path)
    assert {found[name] for name in EFFECTS - {LOCAL_PHASE}} == {"not_reproduced"}


def test_a_local_phase_that_finds_nothing_is_not_necessary(tmp_path):
    change(folder(tmp_path) / "local.tsv", "model == model", n_discriminatory=0)
    found = verdicts(tmp_path)
    assert found[LOCAL_PHASE] == "not_reproduced"
    assert found["adf-text-order-local"] == found["adf-text-order-local-same"] == "not_reproduced"


def test_searches_that_find_nothing_meet_no_claim(tmp_path):
    path = folder(tmp_path)
    change(path / "global.tsv", "model == model", n_raw=0, n_found=0)
    change(path / "local.tsv", "model == model", n_texts=0, n_discriminatory=0)
    change(path / "validity.tsv", "model == model", n_pairs=0)
    change(path / "retraining.tsv", "model == model", n_independent=0, n_removed=0)
    found = verdicts(tmp_path)
    assert {found[name] for name in EFFECTS} == {"not_reproduced", "not_attempted"}


def test_training_that_removes_nothing_meets_no_claim(tmp_path):
    change(folder(tmp_path) / "retraining.tsv", "model == model", n_removed=0, improvement=0.0)
    found = verdicts(tmp_path)
    trainings = {name for name in EFFECTS if "improvement" in MEASURED[name].select + MEASURED[name].measure}
    assert len(trainings) == 3
    assert {found[name] for name in trainings} == {"not_reproduced"}


def test_empty_tables_are_never_judged(tmp_path):
    path = folder(tmp_path)
    for name in ("global", "local", "validity", "retraining", "texts"):
        table = read_tsv(path / f"{name}.tsv")
        write_tsv(path / f"{name}.tsv", table.iloc[:0])
    assert {verdicts(tmp_path)[name] for name in MEASURED} == {"not_attempted"}


def test_another_corpus_is_judged_and_a_table_of_numbers_is_not(tmp_path):
    write_results(tmp_path / "fairness_testing", ["forum"])
    found = verdicts(tmp_path, "text-forum")
    assert set(found) == EFFECTS
    assert set(found.values()) == {"direction_only"}
    setups = {"fairness_testing": ["census", "text-forum"]}
    table = measure_claims(list(TEXTS.values()), tmp_path, setups)
    assert "census" not in set(table["setup"])
    own = table[table["setup"] == "text-stormfront"]
    assert set(own["verdict"]) == {"not_attempted"}
