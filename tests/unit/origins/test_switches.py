"""Parts of a setup that are switched off: what is not made, and what the audit is told."""

from fnmatch import fnmatch
from pathlib import Path

import pytest
import yaml

from biaslab.audit.claims import read_claims
from biaslab.core.errors import InputError
from biaslab.core.settings import merge
from biaslab.origins import analyses
from biaslab.origins.attribution.registry import BY_SEED
from biaslab.run.area import Unit, expand
from biaslab.run.plan.plan import CLAIMS, Plan, make_plan

ROOT = Path(__file__).parents[3]
SMOKE = yaml.safe_load((ROOT / "workflow/presets/smoke.yaml").read_text(encoding="utf-8"))
SWITCHES = {"lds": "subsets", "planted": "documents", "brittleness": "retrainings", "word2vec": "trainings"}
GONE = {name: {name} for name in SWITCHES} | {"word2vec": {"figure9_glove_word2vec", "analogies_word2vec"}}
ALL_OFF = {section: {key: 0} for section, key in SWITCHES.items()}


def planned(switched: dict) -> Plan:
    """Return what the smoke preset does with something switched off."""
    mine = {"areas": ["origins"], "origins": {"setups": {"smoke": switched}}}
    return make_plan(merge(SMOKE, mine), ROOT)


@pytest.mark.parametrize(("section", "key"), SWITCHES.items())
def test_what_needs_a_part_goes_with_it_and_all_else_stays(section, key):
    whole, plan = planned({}), planned({section: {key: 0}})
    made = {one.item.stem for one in plan.made(plan.area("origins"))}
    before = {one.item.stem for one in whole.made(whole.area("origins"))}
    assert before - made == GONE[section]
    assert f"{section}.{key} is 0" in plan.audited()["lacking"]["origins/smoke"]
    read = {file for one in plan.made(plan.area("origins")) for file in one.inputs(plan.area("origins"))}
    results = analyses.result_files("results/origins", plan.config["origins"]["setups"])
    no_claim_reads = (f"/{BY_SEED}/", "/bias_gradient/")
    ours = {file for file in read if file.startswith("results/")}
    assert {file for file in ours if not any(part in file for part in no_claim_reads)} <= set(results)


@pytest.mark.parametrize(
    "switched",
    [
        {},
        {"word2vec": {"trainings": 0}},
        {"ppmi_sets": {"sizes": []}},
        {"perturbations": {"random_retrainings": 0}},
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


def test_tables_are_told_of_a_setup_what_they_are_made_of_alone():
    whole, plan = planned({}), planned(ALL_OFF)
    area, before, after = plan.area("origins"), *(one.reports(one.area("origins")) for one in (whole, plan))
    stays = [
        whole.report_inputs(area, before[stem]) == plan.report_inputs(area, after[stem]) for stem in after
    ]
    told = [whole.described(area, before[stem]) == plan.described(area, after[stem]) for stem in after]
    assert any(stays)
    assert all(same for same, stay in zip(told, stays, strict=True) if stay)


@pytest.mark.parametrize("switched", [{}, ALL_OFF], ids=str)
def test_what_tables_are_told_is_enough_to_make_them(switched):
    plan = planned(switched)
    area = plan.area("origins")
    for made in plan.reports(area).values():
        units = [Unit(**one) for one in plan.described(area, made)]
        stems = [one.stem for one in made]
        found = [one for one in expand(area.items, units) if one.stem in stems]
        assert [one.inputs(area) for one in found] == [one.inputs(area) for one in made]


def test_one_training_has_no_spread():
    problem = r"smoke\.word2vec\.trainings: one training has no standard deviation; write 0"
    with pytest.raises(InputError, match=problem):
        planned({"word2vec": {"trainings": 1}})
