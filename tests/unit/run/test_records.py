import json
import os
import shutil
import zipfile
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from biaslab.core.errors import InputError
from biaslab.core.files import write_json, write_text
from biaslab.run.record.notes import portable
from biaslab.run.record.provenance import sha256_file
from biaslab.run.record.records import parse_records, read_records, records_text
from biaslab.run.root import repository
from biaslab.run.travel.crate.reading import opened_run
from biaslab.run.travel.crate.writing import write_crate
from travel_data import CODE, MADE, make_run

TABLE, TEXTS, EMBEDDING = "origins/unit/bias.tsv", "origins/unit/documents.parquet", next(iter(MADE))


def packed(archive):
    with zipfile.ZipFile(archive) as crate:
        return {name.removeprefix("results/") for name in crate.namelist() if name.startswith("results/")}


def test_a_record_names_code_and_the_digest_of_each_input_and_output(tmp_path):
    results = make_run(tmp_path)
    records = {record.rule: record for record in read_records(results, {}) if len(record.outputs) == 1}
    table = records["report_one"]
    assert table.code == CODE["report_one"]
    assert table.inputs == {f"results/{TABLE}": sha256_file(results / TABLE)}
    assert table.outputs == {f"results/{(t := 'origins/tables/table1.tsv')}": sha256_file(results / t)}
    assert parse_records(records_text([table]), "x") == [table]
    older = asdict(table) | {"settings": ["'x'"]}
    assert parse_records(json.dumps([older]), "x") == [table]
    assert portable("../lib/biaslab/repository/workflow/resources/a.tsv") == "workflow/resources/a.tsv"
    assert portable("own/workflow/a.tsv") == "own/workflow/a.tsv"


def test_what_was_made_of_something_else_has_no_record(tmp_path):
    results = make_run(tmp_path)
    write_text(tmp_path / "own.txt", "other")  # a digest was noted
    os.utime(tmp_path / "own.txt", (0, 0))
    assert [record.rule for record in read_records(results, {})] == ["report_one", "measure"]
    write_text(results / EMBEDDING, "newer than what was made of it")
    assert [record.rule for record in read_records(results, {})] == ["report_one"]


def test_records_of_taken_results_end_with_what_is_made_again_or_computed_from_other_files(tmp_path):
    """A crate with records that contradict each other is refused."""
    results = make_run(tmp_path)
    records = {min(record.outputs): record for record in read_records(results, {})}
    measured = records[f"results/{TABLE}"]
    other = replace(measured, inputs={f"results/{EMBEDDING}": "0" * 64})
    assert measured in read_records(results, {}, [other]), "the same bytes were made again from another file"
    everything = list(records.values())
    assert read_records(results, {}, everything) == everything, "each once"
    shutil.rmtree(tmp_path / ".snakemake")
    assert read_records(results, {}, everything) == everything
    assert read_records(results, {}, [other, *everything[:1]]) == everything[:1]
    write_text(results / TABLE, "other")
    assert measured not in read_records(results, {}, everything)


def test_data_that_were_copied_again_are_what_the_step_read_if_it_was_told_their_checksum(tmp_path):
    results = make_run(tmp_path)
    write_text(results / EMBEDDING, "copied again, later than what was made of it")
    (notes,) = (
        path
        for path in (tmp_path / ".snakemake/metadata").iterdir()
        if json.loads(path.read_text())["log"] == [f"results/logs/{TABLE}.log"]
    )
    told = json.loads(notes.read_text())
    for checksum, rules in (
        (EMBEDDING, ["report_one", "measure", "train"]),
        (TABLE, ["report_one", "train"]),
    ):
        note = told | {"params": [*told["params"], repr(sha256_file(results / checksum))]}
        write_json(notes, note)
        found = [
            record.rule for record in read_records(results, {}) if f"results/{TEXTS}" not in record.outputs
        ]
        assert found == rules


def test_results_are_packed_on_request_but_neither_texts_nor_data(tmp_path):
    results, out = make_run(tmp_path / "run"), tmp_path / "c.zip"
    write_crate(results, out, repository())
    assert not {TABLE, EMBEDDING} & packed(out)
    write_crate(results, out, repository(), ["results"])
    assert {TABLE, "audit/manifest.json"} <= packed(out)
    assert not {TEXTS, EMBEDDING, "datasets/hatecheck/test_suite_cases.csv"} & packed(out)
    with opened_run(out) as run:
        assert {record.rule for record in run.steps} == set(CODE)
        assert run.elsewhere[TEXTS] == sha256_file(results / TEXTS)
    write_crate(results, out, repository(), ["embeddings"])
    assert {TABLE, EMBEDDING} <= packed(out)
    write_crate(results, out, repository(), ["results"], [TABLE.replace("origins/", "*/")])
    assert TABLE not in packed(out)
    with opened_run(out) as run:
        assert run.elsewhere[TABLE] == sha256_file(results / TABLE)
    with pytest.raises(InputError, match=r"no result fits 'origns/\*'"):
        write_crate(results, tmp_path / "d.zip", repository(), ["results"], ["origns/*"])
    assert not (tmp_path / "d.zip").exists()


def test_a_run_that_has_not_ended_is_packed_with_what_it_has(tmp_path):
    results, out = make_run(tmp_path / "run", is_whole=False), tmp_path / "c.zip"
    with pytest.raises(InputError, match=r"manifest\.json: .*run the workflow to its end"):
        write_crate(results, out, repository())
    notices = write_crate(results, out, repository(), ["results"])
    assert any("has not ended" in notice for notice in notices)
    with opened_run(out) as run:
        assert TABLE in run.files()
        assert EMBEDDING in run.elsewhere


@pytest.mark.parametrize("is_whole", [True, False])
def test_results_without_their_records_are_refused(tmp_path, is_whole):
    results = make_run(tmp_path / "run", is_whole)
    (tmp_path / "run/.snakemake").rename(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"the record of its steps \(\.snakemake/metadata\) is missing"):
        write_crate(results, tmp_path / "c.zip", repository(), ["results"])
    assert not (tmp_path / "c.zip").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda records: records[0].update(outputs={"results/../x": "0" * 64}), "not a list of step records"),
        (lambda records: records[0].update(code=1), "not a list of step records"),
        (lambda records: records[0].update(outputs={}), "not a list of step records"),
        (lambda records: records[0]["inputs"].update(x="12"), "not a list of step records"),
        (lambda records: records.append(records[0]), "two steps made"),
        (
            lambda records: records[0]["inputs"].update({f"results/{TABLE}": "0" * 64}),
            "computed from another",
        ),
        (lambda records: records[0]["outputs"].update({f"results/{TABLE}": "0" * 64}), "two steps made"),
    ],
)
def test_records_that_do_not_fit_together_are_refused(tmp_path, change, message):
    records = json.loads(records_text(read_records(make_run(tmp_path), {})))
    change(records)
    with pytest.raises(InputError, match=message):
        parse_records(json.dumps(records), "x")


@pytest.mark.parametrize("change", ["digest", "another", "no text"])
def test_a_crate_whose_records_were_changed_is_refused(tmp_path, change):
    crate = tmp_path / "crate"
    write_crate(make_run(tmp_path / "run"), tmp_path / "crate.zip", repository(), ["results"])
    shutil.unpack_archive(tmp_path / "crate.zip", crate)
    records = json.loads((crate / "records.json").read_text())
    for record in records:
        record["outputs"] = dict.fromkeys(record["outputs"], "0" * 64)
        record["inputs"] = {}
    write_json(crate / "records.json", records)
    if change == "no text":
        (crate / "records.json").write_bytes(b"\xff")
    if change != "digest":
        metadata = json.loads((crate / "ro-crate-metadata.json").read_text())
        entity = next(one for one in metadata["@graph"] if one["@id"] == "records.json")
        entity["sha256"] = sha256_file(crate / "records.json")
        write_json(crate / "ro-crate-metadata.json", metadata)
    message = {"digest": "differs from", "another": "and the manifest", "no text": "is not text"}[change]
    archive = Path(shutil.make_archive(crate, "zip", crate))
    with pytest.raises(InputError, match=message), opened_run(archive):
        pass


def test_an_archive_is_replaced(tmp_path, biaslab):
    results, out = make_run(tmp_path / "run"), tmp_path / "c.zip"
    out.write_bytes(b"of an earlier run")
    code, _, said = biaslab("audit", "crate", results, "--out", out, "--with", "results")
    assert code == 0, said
    assert TABLE in packed(out)
