import hashlib
import json

import pytest

from biaslab.core.files import write_text
from biaslab.run.record.manifest import result_files, write_manifest
from refusals import refusal


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results"
    hidden = ("logs/x.log", "a/benchmarks/y.tsv", ".hidden", "a/.z")
    for name in ("b.tsv", "a/c.tsv", "audit/claims.tsv", *hidden):
        write_text(folder / name, name)
    write_text(tmp_path / "data/one.txt", "one")
    write_text(tmp_path / "data/two.txt", "two")
    return folder


def manifest(results, config=None, inputs=None):
    out = results / "audit/manifest.json"
    settings = results.parent / "config.json"
    settings.write_text(json.dumps(config or {"seed": 1}))
    write_manifest(results, out, settings, {"train": "abc"}, inputs or {})
    return json.loads(out.read_text())


def test_the_manifest_has_every_part(results):
    found = manifest(results, inputs={"corpus": results.parent / "data/one.txt"})
    assert set(found) == {"environment", "config", "config_sha256", "code", "inputs", "outputs"}
    assert found["config"] == {"seed": 1}
    assert found["code"] == {"train": "abc"}
    assert found["inputs"] == {"corpus": hashlib.sha256(b"one").hexdigest()}
    assert found["outputs"]["b.tsv"] == hashlib.sha256(b"b.tsv").hexdigest()
    assert "numpy" in found["environment"]["packages"]


def test_it_leaves_out_what_failed_steps_cost_by_its_step(results):
    """An earlier run made these files. The note on files behind a failed step counts in such a run alone."""
    out, settings = results / "audit/manifest.json", results.parent / "config.json"
    settings.write_text("{}")
    write_text(results / "logs/stale.json", '["a/c.tsv"]')
    for lost, named in (["b.tsv"], {"audit/claims.tsv"}), ([], {"a/c.tsv", "audit/claims.tsv", "b.tsv"}):
        write_manifest(results, out, settings, {}, {}, lost=lost)
        assert set(json.loads(out.read_text())["outputs"]) == named


def test_it_leaves_out_results_of_earlier_configurations(results):
    write_text(results / "logs/planned.json", '["a/c.tsv", "d.tsv"]')
    assert set(manifest(results)["outputs"]) == {"a/c.tsv"}


def test_it_leaves_itself_out_also_the_second_time(results):
    first, second = manifest(results), manifest(results)
    assert list(first["outputs"]) == ["a/c.tsv", "audit/claims.tsv", "b.tsv"]
    assert first["outputs"] == second["outputs"]


def test_the_configs_digest_does_not_depend_on_the_order_of_keys(results):
    digests = [
        manifest(results, config)["config_sha256"]
        for config in ({"a": 1, "b": 2}, {"b": 2, "a": 1}, {"a": 2})
    ]
    assert digests[0] == digests[1] != digests[2]


def test_a_folder_as_input_changes_with_its_files(results):
    data = results.parent / "data"
    before = manifest(results, inputs={"corpus": data})["inputs"]
    write_text(data / "two.txt", "2")
    assert manifest(results, inputs={"corpus": data})["inputs"] != before


def test_missing_folders_and_inputs_are_refused(results):
    assert "nowhere: no such folder" in refusal(result_files, results / "nowhere")
    assert "none: cannot be read" in refusal(manifest, results, inputs={"corpus": results / "none"})
    assert not (results / "audit/manifest.json").exists()
