"""Parts of a setup that are switched off: what is not made, what goes on, and what the audit is told."""

from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

from biaslab.audit.claims import read_claims
from biaslab.core.errors import InputError
from biaslab.core.schema import merge
from biaslab.origins.attribution.registry import BY_SEED
from biaslab.origins.grid import analyses, expansion
from biaslab.run.area import Unit, expand
from biaslab.run.plan import CLAIMS, Plan, make_plan

ROOT = Path(__file__).parents[4]
SMOKE = yaml.safe_load((ROOT / "workflow/presets/smoke.yaml").read_text(encoding="utf-8"))
ALL_OFF = {
    "word2vec": {"trainings": 0},
    "ppmi_comparison": {"random_tests": 0},
    "analogies": False,
    "perturbations": {"retrainings": 0},
}
PPMI = {"ppmi_comparison": {"random_tests": 0}}
NO_SETS = {"perturbations": ALL_OFF["perturbations"]}


def planned(switched: dict) -> Plan:
    """Return what the smoke preset does with something switched off."""
    mine = {"areas": ["origins"], "origins": {"setups": {"smoke": switched}}}
    return make_plan(merge(SMOKE, mine), ROOT)


@pytest.mark.parametrize(
    ("switched", "gone", "left", "reason"),
    [
        (
            {"word2vec": {"trainings": 0}},
            {"figure9_glove_word2vec", "analogies_word2vec"},
            {"figure9_glove_ppmi", "figure4_transfer", "transfer", "analogies_sets"},
            "word2vec.trainings is 0",
        ),
        (
            PPMI,
            {"figure9_glove_ppmi", "figure9_glove_word2vec", "ppmi_rankings", "table5_ppmi_baseline"},
            {"figure4_transfer", "estimators", "analogies_word2vec"},
            "ppmi_comparison.random_tests is 0",
        ),
        (
            {"analogies": False},
            {"analogies_sets", "analogies_word2vec"},
            {"table3_setups", "figure9_glove_word2vec"},
            "analogies is false",
        ),
        (
            NO_SETS,
            {"figure3_sets", "table4_correlation", "figure4_transfer", "cross_fitting", "figure5_bias_axis"},
            {"figure1_histogram", "figure9_glove_word2vec", "analogies_word2vec"},
            "perturbations.retrainings is 0",
        ),
        (
            {"word2vec": {"trainings": 0}, **PPMI},
            {"figure4_transfer", "transfer"},
            {"figure3_sets", "estimators"},
            "word2vec.trainings is 0",
        ),
    ],
)
def test_what_needs_a_part_goes_with_it_and_all_else_stays(switched, gone, left, reason):
    whole, plan = planned({}), planned(switched)
    made = {one.item.stem for one in plan.made(plan.area("origins"))}
    before = {one.item.stem for one in whole.made(whole.area("origins"))}
    assert not gone & made
    assert gone <= before
    assert left <= made
    lacking = plan.audited()["lacking"]["origins/smoke"]
    assert reason in lacking
    read = {file for one in plan.made(plan.area("origins")) for file in one.inputs(plan.area("origins"))}
    results = analyses.result_files("results/origins", plan.config["origins"]["setups"])
    no_claim_reads = (f"/{BY_SEED}/", "/bias_gradient/")
    ours = {file for file in read if file.startswith("results/")}
    assert {file for file in ours if not any(part in file for part in no_claim_reads)} <= set(results)


@pytest.mark.parametrize(
    "switched",
    [
        *({}, PPMI, NO_SETS, ALL_OFF, {"analogies": False}, {"word2vec": {"trainings": 0}}),
        {"ppmi_sets": {"sizes": []}},
        *({"perturbations": {"random_retrainings": 0}}, NO_SETS | {"word2vec": {"trainings": 0}}),
    ],
    ids=str,
)
def test_all_that_claims_read_is_made_or_the_audit_is_told_why_not(switched):
    preset = yaml.safe_load((ROOT / "workflow/presets/simplewiki.yaml").read_text(encoding="utf-8"))
    plan = make_plan(merge(preset, {"origins": {"setups": {"simplewiki": switched}}}), ROOT)
    lacking = plan.audited()["lacking"]["origins/simplewiki"]
    made = analyses.result_files("results/origins", plan.config["origins"]["setups"])
    made = [file.removeprefix("results/") for file in [*made, *plan.report_files("origins")]]
    known = [*made, *(file for files in lacking.values() for file in files)]
    claims = read_claims([ROOT / CLAIMS / "origins.tsv"], ROOT / "workflow/schemas/claims.schema.yaml")
    ours = [claim for claim in claims if not claim.setups or "simplewiki" in claim.setups]
    read = {file for claim in ours for file in claim.file.replace("{setup}", "simplewiki").split()}
    assert len(read) > 10
    unknown = {file for file in read if not any(fnmatch(one, file) or fnmatch(file, one) for one in known)}
    assert unknown == set()
    assert "" not in lacking


@pytest.mark.parametrize(
    "switched",
    [PPMI, NO_SETS, {"ppmi_sets": {"sizes": []}}, ALL_OFF],
    ids=str,
)
def test_tables_are_told_of_a_setup_what_they_are_made_of_alone(switched):
    whole, plan = planned({}), planned(switched)
    area, before, after = plan.area("origins"), *(one.items(one.area("origins")) for one in (whole, plan))
    stays = [
        whole.report_inputs(area, before[stem]) == plan.report_inputs(area, after[stem]) for stem in after
    ]
    told = [whole.described(area, before[stem]) == plan.described(area, after[stem]) for stem in after]
    assert told == stays
    assert any(stays)


@pytest.mark.parametrize("switched", [{}, PPMI, NO_SETS, ALL_OFF], ids=str)
def test_what_tables_are_told_is_enough_to_make_them(switched):
    plan = planned(switched)
    area = plan.area("origins")
    for stem, made in plan.items(area).items():
        units = [Unit(**one) for one in plan.described(area, made)]
        found = [one for one in expand(area.items, units) if one.item.stem == stem]
        assert [(one.stem, one.inputs(area)) for one in found] == [
            (one.stem, one.inputs(area)) for one in made
        ]


def test_with_all_switched_off_documents_are_ranked_and_their_bias_is_measured():
    plan = planned(ALL_OFF)
    made = {one.item.stem for one in plan.made(plan.area("origins"))}
    assert {"table2_baseline_bias", "tableE_influential_documents", "figure1_histogram"} <= made
    setup = plan.config["origins"]["setups"]["smoke"]
    assert expansion.perturbation_sets(setup) == expansion.ppmi_sets(setup) == []
    assert not expansion.has_word2vec(setup)
    files = analyses.result_files("results/origins", {"smoke": setup})
    assert "results/origins/smoke/predictions.tsv" in files


def test_what_contradicts_a_switch_is_refused():
    said = r"origins\.setups\.smoke\.word2vec\.trainings: of one there is no spread; write 0"
    with pytest.raises(InputError, match=said):
        planned({"word2vec": {"trainings": 1}})
