import json
import shutil

import pandas as pd
import pytest

from audit_data import CLAIM, SCHEMA, write_registry
from biaslab.core.files import write_json
from biaslab.core.io import read_tsv, write_tsv
from biaslab.run.plan.steps import run_step
from biaslab.run.record.manifest import result_files


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results"
    write_tsv(folder / "origins/small/a.tsv", pd.DataFrame({"x": [1.0, 2.0, 3.0]}))
    write_json(folder / "config.json", {"seed": 1})
    rows = (CLAIM | {"claim_id": name, "setup": setup} for name, setup in (("t1", "small"), ("t2", "nyt")))
    write_registry(tmp_path / "origins.tsv", *rows)
    return folder


def audit(results, printed="", papers="", record=None, **units):
    """Audit a run as its step does, and return what it says."""
    units = {"setups": {"origins": ["small"]}, "absent": {}, "made_up": [], "lacking": {}} | units
    (results.parent / "printed.tsv").write_text(f"paper\titem\tcounts_as\tprinted\tabsent\treason\n{printed}")
    (results.parent / "papers.tsv").write_text(f"paper\ttitle\tat_hand\tnot_at_hand\tmain\n{papers}")
    given = {
        "registries": [str(results.parent / "origins.tsv")],
        "schema": str(SCHEMA),
        "printed": [str(results.parent / "printed.tsv")],
        "papers": [str(results.parent / "papers.tsv")],
        "results": str(results),
        "planned": str(results / "logs/planned.json"),
        "config": str(results / "config.json"),
        "units": units,
        "record": record or {"code": {}, "inputs": {}},
    }
    names = {"claims": "claims.tsv", "page": "audit.html", "manifest": "manifest.json"}
    given |= {key: str(results / "audit" / name) for key, name in names.items()}
    summary = [f"audit/summary{suffix}" for suffix in (".tsv", ".md", ".tex")]
    planned = {*result_files(results), *summary, *(f"audit/{name}" for name in names.values())}
    write_json(results / "logs/planned.json", sorted(planned))
    said = []
    run_step("audit.audit-run", json.dumps(given), None, said.append)
    return said


def test_claims_then_summary_then_page_then_manifest(results):
    folder = results / "audit"
    audit(results, absent={"nyt": "no licence"})
    table = read_tsv(folder / "claims.tsv")
    assert table["verdict"].tolist() == ["reproduced", "not_attempted"]
    assert table["reason"].iloc[1] == "setup nyt not run: no licence"
    audit(results, lacking={"origins/small": {"step x failed": ["origins/small/a.tsv"]}})
    reason = "this run does without origins/small/a.tsv: step x failed"
    assert read_tsv(folder / "claims.tsv")["reason"].iloc[0] == reason
    record = {"code": {"train": "abc"}, "inputs": {"registry": str(SCHEMA)}}
    said = audit(results, "Doe 2020\tTable 1\tcell\t3\t1\tillegible\n", "Doe 2020\tOn x\ttext\t\t\n", record)
    line = next(line.split() for line in said[0].splitlines() if " cells " in line)
    assert line == ["Doe", "2020", "cells", "3", "1", "1", *["0"] * 8, "1", "1"]
    assert "0 of 0 measured signs" in said[0]
    assert read_tsv(folder / "summary.tsv")["no_row"].tolist() == [0, 1]
    assert "| Doe 2020 | cells | 3 | 1 |" in (folder / "summary.md").read_text()
    assert "illegible" in (folder / "audit.html").read_text()
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["config"], manifest["code"]) == ({"seed": 1}, {"train": "abc"})
    written = ["audit.html", "claims.tsv", "summary.md", "summary.tex", "summary.tsv"]
    others = ["config.json", "origins/small/a.tsv"]
    assert list(manifest["outputs"]) == [*(f"audit/{name}" for name in written), *others]


def test_compare_tells_by_its_exit_code(biaslab, results, tmp_path):
    audit(results)
    other = tmp_path / "other"
    shutil.copytree(results, other)
    code, output, _ = biaslab("audit", "compare", results, other)
    assert (code, output.splitlines()[-1]) == (0, "8 files: 8 byte equal; verdicts changed: 0")
    write_tsv(other / "origins/small/a.tsv", pd.DataFrame({"x": [1.0, 2.0, 6.0]}))
    path = other / "audit/claims.tsv"
    path.write_text(path.read_text().replace("\treproduced\t", "\tnot_reproduced\t"))
    code, output, _ = biaslab("audit", "compare", results, other, "--out", tmp_path / "c.tsv")
    assert code == 1
    assert "x[2]: 3 in A, 6 in B" in output
    assert "not reproduced" in output
    assert output.splitlines()[-1] == "8 files: 6 byte equal, 2 different; verdicts changed: 1"
    status = read_tsv(tmp_path / "c.tsv").set_index("path")["status"]
    assert set(status[status == "different"].index) == {"audit/claims.tsv", "origins/small/a.tsv"}
    assert biaslab("audit", "compare", results, tmp_path / "none")[0] == 2


def test_a_crate_is_written_compared_and_refused_in_one_line(biaslab, results, tmp_path, monkeypatch):
    monkeypatch.chdir(SCHEMA.parents[2])
    audit(results)
    assert biaslab("audit", "crate", results, "--out", tmp_path / "c.zip")[0] == 0
    code, output, _ = biaslab("audit", "compare", results, tmp_path / "c.zip")
    assert code == 0
    assert "8 files: 8 byte equal; verdicts changed: 0" in output
    write_json(results / "config.json", {"seed": 2})
    code, _, error = biaslab("audit", "crate", results, "--out", tmp_path / "d.zip")
    assert code == 2
    assert len(error.splitlines()) == 1
    assert "config.json: the file changed after the run" in error
    assert not (tmp_path / "d.zip").exists()
