import io
import json
import math
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biaslab.audit.compare import DIFFERENT, ONLY_IN_A, compare_runs, relative_difference
from biaslab.core.errors import InputError
from biaslab.core.files import write_json, write_text
from biaslab.core.io import write_npz, write_parquet, write_tsv
from biaslab.run.record.manifest import MANIFEST, result_files
from biaslab.run.record.provenance import sha256_file
from biaslab.run.travel.crate import METADATA
from properties import examples
from refusals import refusal

TABLE = pd.DataFrame(
    {"weat": ["a", "b", None], "x": [1.0, 2.0, np.nan], "n": [1, 2, 3], "ok": [True, False, True]}
)
VALUE = {"a": [1, 2.5, {"b": None}], "c": "text", "d": {}, "e": True}
CLAIMS = pd.DataFrame(
    {"claim_id": ["t1", "t1", "t2"], "setup": ["one", "two", "one"], "verdict": ["reproduced"] * 3}
)


@pytest.fixture
def runs(tmp_path):
    a, b = tmp_path / "a", tmp_path / "b"
    write_tsv(a / "t.tsv", TABLE)
    write_parquet(a / "p.parquet", TABLE)
    write_npz(
        a / "z.npz", W=np.arange(6, dtype=np.float32).reshape(2, 3), n=np.int64(3), s=np.array(["u", "v"])
    )
    write_json(a / "j.json", VALUE)
    write_tsv(a / "audit/claims.tsv", CLAIMS)
    write_json(
        a / "audit/manifest.json",
        {"environment": {"cpu": "one"}, "config": {"seed": 1}, "outputs": {"t": "1"}},
    )
    write_text(a / "f.svg", "<svg/>")
    write_text(a / "logs/x.log", "1")
    shutil.copytree(a, b)
    return a, b


def only(comparison, path):
    return next(file for file in comparison.files if file.path == path)


def test_a_copy_is_byte_equal_and_logs_do_not_count(runs):
    write_text(runs[1] / "logs/x.log", "2")
    write_text(runs[1] / "benchmarks/y.tsv", "2")
    comparison = compare_runs(*runs)
    assert comparison.counts == {"byte_equal": 7}
    assert comparison.is_equal
    assert comparison.verdicts == []


def test_other_files_are_equal_byte_by_byte_or_of_one_run_alone(runs):
    (runs[1] / "j.json").unlink()
    write_text(runs[1] / "new.md", "x")
    for folder, last in zip(runs, "12", strict=True):
        write_text(folder / "f.svg", " " * (3 << 20) + last)
    comparison = compare_runs(*runs)
    found = only(comparison, "f.svg")
    assert (found.status, found.where) == ("different", "this kind of file is compared by bytes alone")
    assert only(comparison, "j.json").status == "only_in_a"
    assert only(comparison, "new.md").status == "only_in_b"
    assert not comparison.is_equal
    assert len(comparison.table()) == 8


def test_the_manifest_may_differ_in_environment_and_outputs_alone(runs):
    path = runs[1] / "audit/manifest.json"
    write_json(path, {"environment": {"cpu": "two", "git": None}, "config": {"seed": 1}, "outputs": {}})
    assert only(compare_runs(*runs), "audit/manifest.json").status == "numerically_equal"
    write_json(path, {"environment": {}, "config": {"seed": 2}, "outputs": {}})
    found = only(compare_runs(*runs), "audit/manifest.json")
    assert (found.status, found.difference) == ("different", 0.5)
    assert found.where == "config.seed: 1.0 in A, 2.0 in B"


def write_arrays(path, changes):
    with np.load(path) as archive:
        arrays = dict(archive)
    write_npz(path, **arrays | changes)


def write_value(path, change):
    path.write_text(json.dumps(VALUE | change))


TABLES = [
    (TABLE.assign(x=[1.0, 2.000000001, np.nan]), 5e-10, "x[1]"),
    (TABLE.assign(x=[1.0, 4.0, np.nan]), 0.5, "x[1]: 2.0 in A, 4.0 in B"),
    (TABLE.assign(x=[1.0, np.nan, np.nan]), math.inf, "x[1]"),
    (TABLE.assign(n=[1, 2, 4]), 0.25, "n[2]: 3 in A, 4 in B"),
    (TABLE.assign(weat=["a", "c", None]), math.nan, "weat[1]: 'b' in A, 'c' in B"),
    (TABLE.assign(ok=[True, True, True]), math.nan, "ok[1]: 'False' in A, 'True' in B"),
    (TABLE.assign(more=1), math.nan, "more is only in B"),
    (TABLE.drop(columns="x"), math.nan, "x is only in A"),
    (TABLE.iloc[:2], math.nan, "weat: shape 3 in A, 2 in B"),
]
ARRAYS = [
    ({"W": np.array([[0, 1, 2], [3, 8, 5]], np.float32)}, 0.5, "W[1, 1]: 4.0 in A, 8.0 in B"),
    ({"n": np.int64(6)}, 0.5, "n: 3 in A, 6 in B"),
    ({"s": np.array(["u", "w"])}, math.nan, "s[1]: 'v' in A, 'w' in B"),
    ({"W": np.zeros((3, 2), np.float32)}, math.nan, "W: shape 2 x 3 in A, 3 x 2 in B"),
    ({"extra": np.zeros(1)}, math.nan, "extra is only in B"),
]
VALUES = [
    ({"a": [1.0, 2.5, {"b": None}]}, 0, ""),
    ({"a": [1, 5, {"b": None}]}, 0.5, "a[1]: 2.5 in A, 5.0 in B"),
    ({"a": [1, 2.5, {"b": 1}]}, math.nan, "a[2].b: 'None' in A, '1.0' in B"),
    ({"a": [1, 2.5]}, math.nan, "a[2].b is only in A"),
    ({"e": False}, math.nan, "e: 'True' in A"),
    ({"d": []}, math.nan, "d: '{}' in A, '[]' in B"),
]
FILES = {"t.tsv": (write_tsv, TABLES), "p.parquet": (write_parquet, TABLES)}
FILES |= {"z.npz": (write_arrays, ARRAYS), "j.json": (write_value, VALUES)}


@pytest.mark.parametrize(
    ("name", "write", "change", "difference", "where"),
    [(name, write, *case) for name, (write, cases) in FILES.items() for case in cases],
)
def test_files_are_compared_by_content(runs, name, write, change, difference, where):
    write(runs[1] / name, change)
    found = only(compare_runs(*runs), name)
    assert found.status == ("numerically_equal" if difference < 1e-9 else "different")
    assert found.difference == pytest.approx(difference, nan_ok=True, rel=1e-3)
    assert found.where.startswith(where)


def test_another_layout_of_the_same_table_is_numerically_equal(runs):
    TABLE.to_parquet(runs[1] / "p.parquet", compression="gzip")
    (runs[1] / "t.tsv").write_text((runs[1] / "t.tsv").read_text().replace("\n", "\r\n"), newline="")
    comparison = compare_runs(*runs)
    assert only(comparison, "p.parquet").status == "numerically_equal"
    assert only(comparison, "t.tsv").status == "numerically_equal"
    assert comparison.is_equal


def test_changed_verdicts_are_told(runs):
    changed = CLAIMS.assign(verdict=["reproduced", "direction_only", "reproduced"]).iloc[:2]
    write_tsv(runs[1] / "audit/claims.tsv", changed)
    changes = [tuple(vars(change).values()) for change in compare_runs(*runs).verdicts]
    assert changes == [("t1", "two", "reproduced", "direction_only"), ("t2", "one", "reproduced", "absent")]


def test_a_wider_tolerance_makes_numbers_equal(runs):
    write_tsv(runs[1] / "t.tsv", TABLE.assign(x=[1.0, 2.2, np.nan]))
    assert not compare_runs(*runs).is_equal
    assert compare_runs(*runs, rtol=0.1).is_equal


PICKLED = io.BytesIO()
np.savez(PICKLED, W=np.array([{"a": 1}], dtype=object))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("p.parquet", b"no", r"p\.parquet: not a readable Parquet table"),
        ("z.npz", b"no", r"z\.npz: not a readable \.npz file"),
        ("z.npz", PICKLED.getvalue(), r"z\.npz: not a readable"),
        ("j.json", b"{", r"j\.json: not readable JSON"),
        ("t.tsv", b"a\tb\n1\t2\t3\n1\n\xff\n", r"t\.tsv: not a tab-separated table"),
    ],
)
def test_damaged_files_are_refused(runs, name, content, message):
    (runs[1] / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        compare_runs(*runs)


@pytest.fixture
def crates(runs):
    """The same two runs as crates, which hold all but the arrays."""
    for folder in runs:
        digests = {name: sha256_file(folder / name) for name in result_files(folder) if name != MANIFEST}
        parts = {"environment": {}, "config": {"seed": 1}, "code": {}, "inputs": {}, "outputs": digests}
        write_json(folder / MANIFEST, parts)
        crate = folder.with_name(f"{folder.name}-crate")
        shutil.copytree(folder, crate / "results")
        (crate / "results/z.npz").unlink()
        write_text(crate / METADATA, '{"@graph": []}')
    return [packed(folder) for folder in runs]


def packed(run):
    """Return the archive of the crate of a run."""
    crate = run.with_name(f"{run.name}-crate")
    return Path(shutil.make_archive(crate, "zip", crate))


def test_crates_are_compared_as_folders_are(runs, crates):
    for a, b in ((crates[0], crates[1]), (runs[0], crates[1]), (crates[0], runs[1])):
        assert compare_runs(a, b).counts == {"byte_equal": 7}


def test_what_a_crate_only_names_is_compared_by_its_digest(runs, crates):
    write_npz(runs[0] / "z.npz", W=np.zeros(1))
    found = only(compare_runs(runs[0], crates[1]), "z.npz")
    assert (found.status, found.where) == ("different", "only its sha256 is in a crate")
    (runs[0] / "z.npz").unlink()
    assert only(compare_runs(runs[0], crates[1]), "z.npz").status == "only_in_b"


def test_what_two_crates_hold_is_compared_by_content(runs, crates):
    crate = runs[0].with_name("a-crate") / "results"
    write_tsv(crate / "t.tsv", TABLE.assign(x=[1.0, 4.0, np.nan]))
    write_tsv(crate / "audit/claims.tsv", CLAIMS.assign(verdict=["direction_only"] * 3))
    manifest = json.loads((crate / MANIFEST).read_text())
    for name in ("t.tsv", "audit/claims.tsv"):
        manifest["outputs"][name] = sha256_file(crate / name)
    write_json(crate / MANIFEST, manifest)
    comparison = compare_runs(packed(runs[0]), crates[1])
    assert only(comparison, "t.tsv").where == "x[1]: 4.0 in A, 2.0 in B"
    assert only(comparison, MANIFEST).status == "numerically_equal"
    assert len(comparison.verdicts) == 3


def test_missing_and_empty_folders_are_refused(runs, tmp_path):
    assert "nowhere: no such folder" in refusal(compare_runs, runs[0], tmp_path / "nowhere")
    for name in ("c", "d"):
        (tmp_path / name).mkdir()
    assert "contain no results" in refusal(compare_runs, tmp_path / "c", tmp_path / "d")


@examples(20)
@given(st.lists(st.floats(allow_infinity=False), min_size=1, max_size=5), st.floats(1e-12, 0.5))
def test_a_relative_difference_is_symmetric_and_known_for_scaled_numbers(xs, step):
    x = np.array(xs)
    assert (relative_difference(x, x) == 0).all()
    y = x * (1 - step)
    found = relative_difference(x, y)
    np.testing.assert_array_equal(found, relative_difference(y, x))
    usual = np.abs(x) > 1e-290
    np.testing.assert_allclose(found[usual], step, rtol=1e-3, atol=1e-15)


def write_record(path, *files):
    """Write an archive as those of docs/records: some columns of tables, a dash for texts."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files:
            archive.writestr(name, text)
    return path


def test_a_record_is_compared_in_its_files_and_columns(tmp_path):
    record = write_record(tmp_path / "r.zip", ("ranking/a.tsv", "x\tname\n1\t-\n2\tours\n"))
    table, run = "x\tname\tseconds\n{}\tbakers\t7\n2\t{}\t8\n", tmp_path / "run"
    for x, name, is_equal in (("1", "ours", True), ("1.5", "ours", False), ("1", "theirs", False)):
        write_text(run / "ranking/a.tsv", table.format(x, name))
        write_text(run / "ranking/b.tsv", "y\n1\n")
        for pair in ((record, run), (run, record)):
            comparison = compare_runs(*pair)
            assert [file.path for file in comparison.files] == ["ranking/a.tsv"]
            assert comparison.is_equal == is_equal
    (run / "ranking/a.tsv").unlink()
    assert [file.status for file in compare_runs(record, run).files] == [ONLY_IN_A]


def test_a_record_of_other_columns_or_rows_is_different(tmp_path):
    record = write_record(tmp_path / "r.zip", ("ranking/a.tsv", "x\n1\n"))
    for text, where in (("z\n1\n", "no column is in both"), ("x\n1\n2\n", "x: shape 1 in A, 2 in B")):
        write_text(tmp_path / "run/ranking/a.tsv", text)
        (file,) = compare_runs(record, tmp_path / "run").files
        assert (file.status, file.where) == (DIFFERENT, where)
