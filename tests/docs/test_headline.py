"""The headlines come from recorded runs, which the registries measure."""

import importlib.util

import pytest

from biaslab.audit.summary import NO_ROW
from biaslab.audit.verdicts import NOT_ATTEMPTED, VERDICTS
from consoles import ROOT
from lanes import first_quick

_SPEC = importlib.util.spec_from_file_location("generated", ROOT / "docs/generated.py")
generated = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(generated)


@pytest.mark.parametrize("name", first_quick(generated.RECORDS))
def test_a_recorded_run_measured_something_of_every_paper(name: str) -> None:
    table = generated._counts(name)
    assert table["paper"].nunique() == len(generated._areas(name))
    assert (table[[*VERDICTS, NO_ROW]].sum(axis=1) == table["printed"]).all()
    measured = table.assign(n=table["printed"] - table[NOT_ATTEMPTED] - table[NO_ROW]).groupby("paper")["n"]
    # No package holds posts labelled by people, and nothing of a paper is measured on made-up ones.
    nothing = {"Kennedy et al. 2020"} if name == "packages" else set()
    assert {paper for paper, n in measured.sum().items() if not n} == nothing


@pytest.mark.parametrize("name", generated.RECORDS)
def test_a_record_says_where_it_was_made(name: str) -> None:
    made = generated._made(name)
    assert set(made) - {"lacking", "areas", "gpus", "minutes"} == {"cpu", "cpus", "time", "commit", "setups"}
    assert all(made.values())


def test_there_is_a_record() -> None:
    assert "public" in generated.RECORDS
