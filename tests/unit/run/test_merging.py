import os
import shutil

import pytest

from biaslab.core.errors import InputError
from biaslab.core.files import write_text
from biaslab.run.crate.merging import merge_runs, named_runs
from biaslab.run.crate.reading import opened_run
from biaslab.run.crate.writing import write_crate, write_record
from biaslab.run.root import repository
from travel_data import CODE, MADE, NOW, make_run, note

TABLE, EMBEDDING = "origins/unit/bias.tsv", next(iter(MADE))


@pytest.fixture
def halves(tmp_path):
    """Two folders of one grid: one has the embedding and what was measured in it, one a part of that."""
    make_run(tmp_path / "a", is_whole=False)
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    for output in MADE:
        if output != EMBEDDING:
            (tmp_path / "b/results" / output).unlink()
    (tmp_path / "a/results" / "origins/unit/documents.parquet").unlink()
    return tmp_path / "a", tmp_path / "b"


def merge(halves, out=None):
    first, second = (folder / "results" for folder in halves)
    with opened_run(first, with_steps=True) as a, opened_run(second, with_steps=True) as b:
        record = merge_runs({"A": a, "B": b})
        if out:
            write_record(record, out, repository())
        return record


def test_parts_of_a_grid_become_one_crate(halves, tmp_path):
    merge(halves, tmp_path / "merged")
    with opened_run(tmp_path / "merged", with_steps=True) as run:
        assert run.holds(TABLE)
        assert run.holds("config.json")
        assert not run.holds("origins/tables/table1.tsv")  # which whoever goes on makes of all parts
        assert EMBEDDING in run.elsewhere
        assert {step.rule for step in run.steps} == {"train", "measure"}
    write_crate(halves[0] / "results", tmp_path / "a.zip", repository(), ["results"])
    with opened_run(tmp_path / "a.zip") as first, opened_run(tmp_path / "merged") as second:
        assert (
            merge_runs({"A": first, "M": second}).steps == second.steps
        )  # parts may overlap, as crates, too


def test_two_different_bytes_are_refused_by_name(halves):
    write_text(halves[1] / "results" / EMBEDDING, "flipped")
    with pytest.raises(InputError, match=rf"{EMBEDDING}: has other bytes in B than in A"):
        merge(halves)


def test_other_settings_code_or_inputs_are_refused_by_name(halves, monkeypatch):
    folder = halves[1]
    config = folder / "results/config.json"
    before = config.read_text()
    write_text(config, '{"areas": ["origins"], "seed": 2}')
    with pytest.raises(InputError, match="B: config: seed is another than in A"):
        merge(halves)
    write_text(config, before)
    os.utime(config, (NOW, NOW))
    monkeypatch.setitem(CODE, "train", "f" * 16)
    note(folder, EMBEDDING, "train", ["own.txt"])
    with pytest.raises(InputError, match="B: code: train is another than in A"):
        merge(halves)
    monkeypatch.undo()
    note(folder, EMBEDDING, "train", ["own.txt", "results/config.json"])
    with pytest.raises(InputError, match=rf"{EMBEDDING}: made of other files in B than in A"):
        merge(halves)
    with pytest.raises(InputError, match="is named twice"):
        named_runs(halves[:1] * 2)
