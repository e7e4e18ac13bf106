"""A registry of one's own, on the results of any workflow."""

import hashlib
import json

import pandas as pd
import pytest
import yaml

from biaslab.audit.own import FROZEN, freeze_claims, measure_registry, read_registry, start_registry
from biaslab.audit.summary import read_measured, write_codecheck
from biaslab.core.errors import InputError
from biaslab.core.io import write_parquet
from consoles import ROOT, File, steps
from refusals import refusal

SCHEMA = ROOT / "workflow/schemas/claims.schema.yaml"
EXAMPLES = ROOT / "workflow/resources/claims_examples.tsv"
PAGE = (ROOT / "docs/tutorials/audit-results.md").read_text(encoding="utf-8")


@pytest.fixture
def results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (script,) = (step for step in steps(PAGE) if isinstance(step, File))
    exec(compile(script.text, script.name, "exec"), {})
    return tmp_path / "results"


@pytest.fixture
def registry(tmp_path):
    folder = tmp_path / "doe2020"
    start_registry(folder, SCHEMA, EXAMPLES)
    (folder / "doe2020.tsv").write_bytes(EXAMPLES.read_bytes())
    return folder


def measured(registry, results, *setups):
    said = []
    measure_registry(registry, results, SCHEMA, setups, said.append)
    return read_measured(results / "audit/claims.tsv").set_index("claim_id"), said


def change(registry, before, after):
    path = registry / "doe2020.tsv"
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")


def page(results):
    return (results / "audit/audit.html").read_text(encoding="utf-8")


def test_a_new_registry_has_the_columns_and_no_claim(tmp_path):
    start_registry(tmp_path / "doe2020", SCHEMA, EXAMPLES)
    header = EXAMPLES.read_text(encoding="utf-8").splitlines()[0]
    assert (tmp_path / "doe2020/doe2020.tsv").read_text(encoding="utf-8") == f"{header}\n"
    assert "no claims yet" in refusal(read_registry, tmp_path / "doe2020", SCHEMA)


def test_claims_are_measured_on_the_files_of_any_workflow(registry, results):
    table, said = measured(registry, results)
    assert said == ["8 claims: 6 reproduced, 1 inconclusive, 1 not attempted"]
    assert table.loc["table1-order", "measured"] == pytest.approx(3.875)
    assert table.loc["section4-seconds", "verdict"] == "inconclusive"
    assert "frozen" not in page(results)
    assert "Main claims" not in page(results)


def test_parquet_files_and_setups_are_measured(registry, results):
    accuracy = pd.read_csv(results / "scores.tsv", sep="\t")
    for name, shift in (("a", 0.0), ("b", 0.1)):
        write_parquet(results / f"{name}.parquet", accuracy.assign(accuracy=accuracy["accuracy"] - shift))
    change(registry, "\tscores.tsv\tmethod == 'ours'\tmean", "\t{setup}.parquet\tmethod == 'ours'\tmean")
    table, _ = measured(registry, results, "a", "b")
    rows = table.loc["table1-ours"].set_index("setup")
    assert rows["verdict"].to_dict() == {"a": "reproduced", "b": "not_reproduced"}


def test_main_claims_stand_first_in_the_page(registry, results):
    paper = registry / "paper.tsv"
    paper.write_text(paper.read_text(encoding="utf-8").rstrip("\n") + "table1-order\n", encoding="utf-8")
    measured(registry, results)
    assert '<a href="#table1-order--doe2020">Table 1: Our method' in page(results).partition("Main claims")[2]
    paper.write_text(paper.read_text(encoding="utf-8").replace("table1-order", "lost"), encoding="utf-8")
    assert "column 'main': 'lost' is no claim of Doe" in refusal(measured, registry, results)


def test_a_change_after_the_freeze_shows(registry, results):
    frozen = freeze_claims(registry / FROZEN, read_registry(registry, SCHEMA))
    assert measured(registry, results)[1][1:] == []
    assert frozen.sha256 in page(results)
    assert "These columns have not changed since." in page(results)
    change(registry, "0.9\tbinomial", "1.5\tbinomial")
    assert measured(registry, results)[1][1:] == [
        f"changed since {frozen.date}: table1-ours: tolerance was 0.9, is 1.5"
    ]
    assert "table1-ours: tolerance was 0.9, is 1.5" in page(results)
    assert " exists; " in refusal(freeze_claims, registry / FROZEN, read_registry(registry, SCHEMA))


def test_words_are_not_frozen_and_rows_are(registry, results):
    freeze_claims(registry / FROZEN, read_registry(registry, SCHEMA))
    change(registry, "Accuracy of our method", "Our accuracy")
    assert measured(registry, results)[1][1:] == []
    change(registry, "table2-parameters", "table2-size")
    assert [line.partition(": ")[2] for line in measured(registry, results)[1][1:]] == [
        "table2-parameters: removed",
        "table2-size: added",
    ]


def test_a_frozen_file_that_was_edited_shows(registry, results):
    freeze_claims(registry / FROZEN, read_registry(registry, SCHEMA))
    record = json.loads((registry / FROZEN).read_text(encoding="utf-8"))
    record["claims"]["table1-ours"]["tolerance"] = 1.5
    (registry / FROZEN).write_text(json.dumps(record), encoding="utf-8")
    change(registry, "0.9\tbinomial", "1.5\tbinomial")
    (line,) = measured(registry, results)[1][1:]
    assert line.endswith("frozen.json itself: its sha256 is another one")
    for content in ("", "[]", '{"date": 1}', '{"date": "x", "sha256": "", "claims": {}}', "{"):
        (registry / FROZEN).write_text(content, encoding="utf-8")
        assert "not what biaslab audit measure --freeze writes" in refusal(measured, registry, results)


def test_a_codecheck_has_the_files_behind_the_claims(registry, results, tmp_path):
    measured(registry, results)
    assert write_codecheck(results, tmp_path / "check/codecheck.yml") == 3
    check = yaml.safe_load((tmp_path / "check/codecheck.yml").read_text(encoding="utf-8"))
    assert check["summary"] == "7 claims: 6 reproduced, 1 inconclusive"
    for entry in check["manifest"]:
        path = tmp_path / "check" / entry["file"]
        assert entry["comment"].endswith(hashlib.sha256(path.read_bytes()).hexdigest())


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("run.json", "{", "not readable as JSON"),
        ("run.json", '{"a": 1, "a": 2}', "occurs more than once"),
        ("run.json", "[1, 2]", "the JSON is neither an object nor a list of objects"),
        ("run.json", '{"training": 3}', "the column 'training_epochs' is missing"),
        ("run.json", '{"training": {"epochs": "ten"}}', "line 3, claim 'setting-epochs'"),
        ("run.json", b"\xff", "not UTF-8 text"),
        ("scores.tsv", "method\n\0", "binary"),
        ("scores.tsv", "method\taccuracy\nbaseline\tgood\n", "line 6, claim 'section4-baseline'"),
    ],
)
def test_results_that_cannot_be_read_are_told_in_one_line(registry, results, name, content, message):
    (results / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=message) as caught:
        measured(registry, results)
    assert "\n" not in str(caught.value)
    assert not (results / "audit").exists()


def test_names_and_folders_that_cannot_be_are_told(registry, results, tmp_path):
    assert " exists; " in refusal(start_registry, registry, SCHEMA, EXAMPLES)
    assert "is no name" in refusal(start_registry, tmp_path / "Doe 2020", SCHEMA, EXAMPLES)
    assert "is no name" in refusal(measured, registry, results, "/etc")
    assert "the folder does not exist; name the results" in refusal(measured, registry, tmp_path / "lost")
    with pytest.raises(InputError, match="the folder does not exist; create it with biaslab audit init"):
        read_registry(tmp_path / "lost", SCHEMA)
