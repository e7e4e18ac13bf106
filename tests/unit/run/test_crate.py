import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from urllib.parse import unquote

import pytest

from biaslab.core.errors import InputError
from biaslab.core.files import write_json, write_text
from biaslab.run.record.manifest import write_manifest
from biaslab.run.record.provenance import sha256_file
from biaslab.run.travel.crate import reading
from biaslab.run.travel.crate.contents import workflow_files
from biaslab.run.travel.crate.reading import opened_run
from biaslab.run.travel.crate.writing import write_crate
from refusals import refusal
from travel_data import note

ROOT = Path(__file__).parents[3]
METADATA = "ro-crate-metadata.json"
ENDED = 1_700_000_000  # 2023-11-14T22:13:20Z
NOTED = {"one/unit/vectors.npz": ENDED - 600, "one/tables/table1.tsv": ENDED - 60}
"""When Snakemake has noted that the jobs of two outputs started."""
BENCHMARK = "s\th:m:s\tmax_rss\tcpu_time\n{}\t0:00:00\t20.5\t3.1\n"


VALIDATION = """
import json, sys
from rocrate_validator.models import Severity, ValidationSettings
from rocrate_validator.services import validate

settings = {"profile_identifier": "workflow-run-crate-0.5", "requirement_severity": Severity.REQUIRED}
settings |= {"offline": True, "cache_path": sys.argv[2]}
found = validate(ValidationSettings(rocrate_uri=sys.argv[1], **settings))
print(json.dumps([f"{issue.check.identifier}: {issue.message}" for issue in found.get_issues()]))
"""
"""The validator as a library: its command cannot write JSON about an archive (0.13.0)."""


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A repository with what a crate is made of, and a package of one file."""
    folder = tmp_path / "repository"
    for name in ("Snakefile", "config.yaml", "LICENSE", "README.md", "requirements.lock"):
        write_text(folder / name, name)
    for name in ("resources/datasets.tsv", "schemas/datasets.schema.yaml", "rules/audit.smk"):
        target = folder / "workflow" / name
        target.parent.mkdir(parents=True)
        shutil.copy(ROOT / "workflow" / name, target)
    write_text(folder / "workflow/resources/own.csv", "shipped")
    write_text(folder / "workflow/.hidden", "x")
    write_text(folder / "biaslab/__init__.py", "")
    write_text(folder / "biaslab/__pycache__/x.pyc", "x")
    monkeypatch.setattr("biaslab.run.travel.crate.contents.PACKAGE", folder / "biaslab")
    return folder


@pytest.fixture
def results(tmp_path, root, monkeypatch):
    """What a run leaves: tables, figures, an audit, an intermediate result, a copy of data, benchmarks."""
    folder = tmp_path / "run/results"
    for name, text in {
        "config.json": "{}",
        "one/tables/table1.tsv": "x\n1\n",
        "one/unit/figures/a b.svg": "<svg/>",
        "one/unit/vectors.npz": "large",
        "datasets/hatecheck/test_suite_cases.csv": "licensed",
        "audit/claims.tsv": "claim_id\tsetup\tverdict\nt1\tone\treproduced\n",
        "audit/summary.tsv": "paper\tcounts_as\n",
        "logs/one/x.log": "secret",
        "benchmarks/one/unit/train/soc@0.1.tsv": BENCHMARK.format(60),
        "benchmarks/one/report.tsv": BENCHMARK.format("NA"),
        "benchmarks/datasets/hatecheck/x.tsv": BENCHMARK.format(0.4),
    }.items():
        write_text(folder / name, text)
    write_text(tmp_path / "own.txt", "mine")
    for output, started in NOTED.items():
        note(folder.parent, output, starttime=started + 0.7, endtime=started + 60.2)
    inputs = {"mine": tmp_path / "own.txt", "shipped": root / "workflow/resources/own.csv"}
    monkeypatch.setattr("biaslab.run.record.manifest.time.time", lambda: ENDED + 0.9)
    config = {"areas": ["one"], "one": {"source": ["dataset:nyt-annotated-corpus"]}}
    code = {"train": "abc", "report_one": "def"}
    settings = folder.parent / "settings.json"
    settings.write_text(json.dumps(config))
    write_manifest(folder, folder / "audit/manifest.json", settings, code, inputs)
    for path in folder.rglob("*"):
        os.utime(path, (ENDED, ENDED))
    return folder


@pytest.fixture
def archive(tmp_path, results, root):
    write_crate(results, tmp_path / "crate.zip", root)
    return tmp_path / "crate.zip"


@pytest.fixture
def crate(tmp_path, archive):
    """What is in the archive, as a folder."""
    shutil.unpack_archive(archive, tmp_path / "crate")
    return tmp_path / "crate"


def graph(crate):
    found = json.loads((crate / METADATA).read_text())["@graph"]
    entities = {entity["@id"]: entity for entity in found}
    assert len(entities) == len(found), "an @id occurs more than once"
    return entities


def named(crate, name):
    return next(entity for entity in graph(crate).values() if entity.get("name") == name)


def references(value):
    if isinstance(value, list):
        return [reference for part in value for reference in references(part)]
    return [value["@id"]] if isinstance(value, dict) else []


def kinds(entity):
    return {entity["@type"]} if isinstance(entity["@type"], str) else set(entity["@type"])


def change_manifest(crate, **outputs):
    file = crate / "results/audit/manifest.json"
    manifest = json.loads(file.read_text())
    manifest["outputs"] |= outputs
    write_json(file, manifest)


def add_member(archive, name, data, kind=stat.S_IFREG):
    member = zipfile.ZipInfo(name)
    member.external_attr = (kind | 0o644) << 16
    with zipfile.ZipFile(archive, "a") as crate:
        crate.writestr(member, data)


def change_metadata(archive, change):
    with zipfile.ZipFile(archive) as old:
        members = [(member, old.read(member)) for member in old.infolist()]
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as new:
        for member, data in members:
            is_metadata = member.filename == METADATA
            new.writestr(member, json.dumps(change(json.loads(data))) if is_metadata else data)


def assert_refused(message, crate):
    """Assert that a crate is refused: an archive, or a folder that is packed first."""
    if crate.is_dir():
        crate = Path(shutil.make_archive(crate, "zip", crate))
    with pytest.raises(InputError, match=message), opened_run(crate):
        pass


def test_a_crate_holds_workflow_configuration_items_audit_and_benchmarks(crate):
    files = {path.relative_to(crate).as_posix() for path in crate.rglob("*") if path.is_file()}
    assert files == {
        METADATA,
        *("Snakefile", "config.yaml", "LICENSE", "README.md", "requirements.lock"),
        *("workflow/resources/datasets.tsv", "workflow/resources/own.csv", "src/biaslab/__init__.py"),
        *("workflow/schemas/datasets.schema.yaml", "workflow/rules/audit.smk"),
        *("results/config.json", "results/one/tables/table1.tsv", "results/one/unit/figures/a b.svg"),
        *("results/audit/claims.tsv", "results/audit/summary.tsv", "results/audit/manifest.json"),
        *("results/benchmarks/one/unit/train/soc@0.1.tsv", "results/benchmarks/one/report.tsv"),
        "results/benchmarks/datasets/hatecheck/x.tsv",
    }


def test_every_file_is_described_by_its_digest_and_size(crate):
    described = {unquote(i): e for i, e in graph(crate).items() if "File" in kinds(e) and ":" not in i}
    files = {p.relative_to(crate).as_posix() for p in crate.rglob("*") if p.is_file()} - {METADATA}
    assert set(described) == files
    for place, entity in described.items():
        assert entity["sha256"] == sha256_file(crate / place)
        assert entity["contentSize"] == str((crate / place).stat().st_size)
        assert entity["encodingFormat"]


def test_what_the_profiles_demand_is_there(crate):
    """RO-Crate 1.1, Workflow RO-Crate 1.0, Process and Workflow Run Crate 0.5: what MUST be."""
    entities = graph(crate)
    descriptor, root = entities[METADATA], entities["./"]
    assert descriptor["about"] == {"@id": "./"}
    assert "https://w3id.org/ro/crate/1.1" in references(descriptor["conformsTo"])
    assert "https://w3id.org/workflowhub/workflow-ro-crate/1.0" in references(descriptor["conformsTo"])
    assert kinds(root) == {"Dataset"}
    assert {"name", "description", "datePublished", "license", "mainEntity"} <= set(root)
    for profile in references(root["conformsTo"]):
        assert kinds(entities[profile]) == {"CreativeWork"}
    assert "https://w3id.org/ro/wfrun/workflow/0.5" in references(root["conformsTo"])
    workflow = entities[root["mainEntity"]["@id"]]
    assert kinds(workflow) == {"File", "SoftwareSourceCode", "ComputationalWorkflow"}
    assert kinds(entities[workflow["programmingLanguage"]["@id"]]) == {"ComputerLanguage"}
    for parameter in [*references(workflow["input"]), *references(workflow["output"])]:
        assert kinds(entities[parameter]) == {"FormalParameter"}
        assert entities[parameter]["additionalType"] in {"File", "Dataset"}
        assert entities[entities[parameter]["workExample"]["@id"]]["exampleOfWork"] == {"@id": parameter}
    actions = [entity for entity in entities.values() if kinds(entity) == {"CreateAction"}]
    assert {action["@id"] for action in actions} == set(references(root["mentions"]))
    assert all(action["instrument"]["@id"] in entities for action in actions)
    assert any(action["instrument"]["@id"] == workflow["@id"] for action in actions)


def test_the_graph_is_flat_and_refers_to_what_is_there(crate):
    entities = graph(crate)
    for entity in entities.values():
        assert {"@id", "@type"} <= set(entity)
        for key, value in entity.items():
            for part in value if isinstance(value, list) else [value]:
                assert isinstance(part, str) or set(part) == {"@id"}, (entity["@id"], key)
            for reference in references(value):
                assert reference in entities or reference.startswith("https://"), reference
    parts = set(references(entities["./"]["hasPart"]))
    data = {i for i, e in entities.items() if kinds(e) & {"File", "Dataset"}} - {"./"}
    assert parts == data


def test_validator_finds_the_profile_met(archive, tmp_path):
    """The validator's own rules; the context, which it would download, is that of the library rocrate."""
    if shutil.which("rocrate-validator") is None:
        pytest.skip("rocrate-validator is not on the PATH; requirements-crate.lock has it")
    change_metadata(archive, with_own_context)
    python = Path(os.path.realpath(shutil.which("rocrate-validator"))).with_name("python")
    cache = tmp_path / "http"
    command = [python, "-c", VALIDATION, archive, cache]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == []


def with_own_context(metadata):
    """Return metadata whose context has all terms, so that nothing is downloaded."""
    from rocrate.vocabs import RO_CRATE

    terms, at = metadata["@context"][1], "https://bioschemas.org/"
    terms |= {name: at + name for name in ("ComputationalWorkflow", "FormalParameter")}  # as in version 1.1
    terms |= {name: f"{at}ComputationalWorkflow#{name}" for name in ("input", "output")}
    return metadata | {"@context": RO_CRATE["@context"] | terms}


def test_results_that_are_not_shown_and_data_are_named_but_not_copied(crate, results):
    vectors = named(crate, "results/one/unit/vectors.npz")
    assert vectors["sha256"] == sha256_file(results / "one/unit/vectors.npz")
    assert vectors["@id"].startswith("ni:///sha-256;")
    data = named(crate, "hatecheck")
    assert data["@id"].startswith("https://")
    assert data["license"] == "CC BY 4.0 (Röttger et al. 2021)"
    texts = [path.read_bytes() for path in crate.rglob("*") if path.is_file()]
    assert not [text for text in texts if text == b"licensed" or b"secret" in text or text == b"mine"]


def test_every_input_is_an_object_of_the_run(crate):
    entities = graph(crate)
    names = {entities[at]["name"] for at in references(entities["#run"]["object"])}
    assert names == {
        "results/config.json",
        "hatecheck",
        "nyt-annotated-corpus",
        "mine",
        "workflow/resources/own.csv",
    }
    assert "LDC" in named(crate, "nyt-annotated-corpus")["license"]
    assert named(crate, "mine")["identifier"].startswith("sha256:")


def test_the_run_has_the_times_that_were_noted(crate):
    run = graph(crate)["#run"]
    assert (run["startTime"], run["endTime"]) == ("2023-11-14T22:03:20+00:00", "2023-11-14T22:13:20+00:00")


def test_the_crate_is_about_the_audit_and_names_the_software(crate, results):
    entities = graph(crate)
    assert entities["./"]["about"] == {"@id": "results/audit/"}
    assert "results/audit/claims.tsv" in references(entities["results/audit/"]["hasPart"])
    versions = json.loads((results / "audit/manifest.json").read_text())["environment"]["packages"]
    numpy = f"https://pypi.org/project/numpy/{versions['numpy']}/"
    assert {numpy, "requirements.lock"} <= set(references(entities["Snakefile"]["softwareRequirements"]))


def test_the_same_run_gives_the_same_bytes_whatever_the_times_of_its_files(tmp_path, results, root, archive):
    first = archive.read_bytes()
    write_text(results / "logs/another.log", "x")
    for path in results.parent.rglob("*"):
        os.utime(path)  # as in a copy that keeps no times
    write_crate(results, tmp_path / "again.zip", root)
    assert (tmp_path / "again.zip").read_bytes() == first
    assert str(tmp_path).encode() not in zipfile.ZipFile(archive).read(METADATA)


def test_an_archive_has_the_folders_that_it_describes_and_the_time_of_the_run(archive):
    with zipfile.ZipFile(archive) as members:
        assert {name for name in members.namelist() if name.endswith("/")} == {"results/", "results/audit/"}
        assert {member.date_time for member in members.infolist()} == {(2023, 11, 14, 22, 13, 20)}


def test_other_commits_and_changes_are_told(tmp_path, results, root, monkeypatch):
    assert "Unknown whether" in write_crate(results, tmp_path / "a.zip", root)[0]
    file = results / "audit/manifest.json"
    manifest = json.loads(file.read_text())
    manifest["environment"]["git"] = {"commit": "aaa", "dirty": True}
    write_json(file, manifest)
    monkeypatch.setattr(
        "biaslab.run.travel.crate.graph.git_state", lambda _: {"commit": "bbb", "dirty": False}
    )
    notices = write_crate(results, tmp_path / "b.zip", root)
    assert notices == [
        "The run ended at commit aaa, the packed files are of bbb",
        "The run had uncommitted changes",
    ]
    shutil.unpack_archive(tmp_path / "b.zip", tmp_path / "b")
    workflow = graph(tmp_path / "b")["Snakefile"]
    assert workflow["version"] == "aaa"
    assert notices[0] in workflow["description"]


def test_the_real_repository_is_packed_with_what_it_needs():
    places = {file.place for file in workflow_files(ROOT)}
    assert {
        *("Snakefile", "config.yaml", "requirements.lock", "requirements-crate.lock", "LICENSE"),
        *("workflow/rules/common.smk", "src/biaslab/origins/settings.py", "envs/biaslab.yaml"),
        *("src/biaslab/core/paper.mplstyle", "src/biaslab/run/travel/crate/graph.py"),
    } <= places
    assert not [place for place in places if "__pycache__" in place]


def test_changed_missing_and_unfinished_results_are_refused(tmp_path, results, root):
    write_text(results / "one/tables/table1.tsv", "x\n2\n")
    with pytest.raises(InputError, match=r"table1\.tsv: the file changed after the run"):
        write_crate(results, tmp_path / "c.zip", root)
    (results / "one/tables/table1.tsv").unlink()
    assert "table1.tsv: cannot be read" in refusal(write_crate, results, tmp_path / "c.zip", root)
    manifest = json.loads((results / "audit/manifest.json").read_text(encoding="utf-8"))
    manifest["config"]["failed"] = {"step train failed": ["one/unit/a.tsv"]}
    write_text(results / "audit/manifest.json", json.dumps(manifest))
    with pytest.raises(InputError, match=r"results are missing \(step train failed\); complete the run"):
        write_crate(results, tmp_path / "c.zip", root)
    (results / "audit/manifest.json").unlink()
    with pytest.raises(InputError, match=r"manifest\.json: .*run the workflow to its end"):
        write_crate(results, tmp_path / "c.zip", root)
    assert not list(tmp_path.glob("*.zip"))


def test_wrong_places_are_refused(tmp_path, results, root):
    assert "end the name with .zip" in refusal(write_crate, results, tmp_path / "crate", root)
    assert "lies in the results folder" in refusal(write_crate, results, results / "c.zip", root)
    with pytest.raises(InputError, match="Snakefile: no such file; run this in the repository"):
        write_crate(results, tmp_path / "c.zip", tmp_path)
    write_text(tmp_path / "file", "x")
    with pytest.raises(InputError, match=r"cannot write .*/file/c"):
        write_crate(results, tmp_path / "file/c.zip", root)


def test_a_missing_library_is_told(tmp_path, results, root, monkeypatch):
    monkeypatch.setitem(sys.modules, "rocrate.rocrate", None)
    with pytest.raises(InputError, match=r"rocrate is not installed; pip install 'biaslab\[crate\]'"):
        write_crate(results, tmp_path / "c.zip", root)


def test_a_crate_is_read_as_its_run(archive, results):
    with opened_run(archive) as run:
        assert set(run.elsewhere) == {"one/unit/vectors.npz", "datasets/hatecheck/test_suite_cases.csv"}
        assert {name: run.sha256(name) for name in run.files() if name != "audit/manifest.json"} == {
            name: sha256_file(results / name)
            for name in json.loads((results / "audit/manifest.json").read_text())["outputs"]
        }
        folder = run.folder
    assert not folder.exists(), "what was unpacked is left behind"


@pytest.mark.parametrize(
    "name",
    [
        "../out",
        "results/../../out",
        "/results/out",
        "results\\..\\out",
        "C:/out",
        "results//out",
        "results/a\nb",
    ],
)
def test_files_that_leave_an_archive_are_refused(archive, name, tmp_path, monkeypatch):
    add_member(archive, name, b"x")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = sorted(tmp_path.rglob("*"))
    assert_refused(r"leaves the crate; refused$", archive)
    assert sorted(tmp_path.rglob("*")) == before


def test_links_are_refused(archive):
    add_member(archive, "results/one/tables/link", b"/etc/passwd", stat.S_IFLNK)
    assert_refused("is a link", archive)


def test_too_much_is_refused(archive, monkeypatch):
    monkeypatch.setattr(reading, "MAX_BYTES", 100)
    assert_refused("more than the allowed 100; refused", archive)
    monkeypatch.setattr(reading, "MAX_FILES", 3)
    assert_refused("files, more than the allowed 3", archive)


def test_an_archive_of_something_else_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("a", "b")
    message = r"not a crate, because ro-crate-metadata\.json"
    assert_refused(message, tmp_path / "x.zip")


def test_results_that_the_manifest_does_not_vouch_for_are_refused(crate):
    change_manifest(crate, **{"config.json": "0" * 64})
    assert_refused(r"config\.json differs from the manifest", crate)
    write_text(crate / "results/audit/more.tsv", "x")
    assert_refused(r"more\.tsv is not in the manifest", crate)


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        ({"../x": "0" * 64}, "not a path inside"),
        ({"/x": "0" * 64}, "not a path inside"),
        ({"x": "0"}, "no sha256"),
    ],
)
def test_manifests_that_name_what_is_outside_are_refused(crate, outputs, message):
    change_manifest(crate, **outputs)
    assert_refused(message, crate)


@pytest.mark.parametrize("text", ["{", "[]", '{"outputs": 1}', "[" * 100_000])
def test_manifests_that_are_none_are_refused(crate, text):
    write_text(crate / "results/audit/manifest.json", text)
    message = r"manifest\.json: (not readable JSON|the mapping ')"
    assert_refused(message, crate)


def test_an_unpacked_crate_is_refused(crate):
    with pytest.raises(InputError, match="an unpacked crate; name its archive"), opened_run(crate):
        pass


def test_a_crate_without_results_is_refused(tmp_path):
    write_text(tmp_path / "crate" / METADATA, "{}")
    assert_refused(r"results/audit/manifest\.json: No such file", tmp_path / "crate")


@pytest.mark.parametrize("text", ["{", "[]", '{"@graph": [1]}', '{"@graph": [{}]}', "[" * 100_000])
def test_a_graph_that_is_none_is_refused(crate, text):
    write_text(crate / METADATA, text)
    assert_refused(f"{METADATA} the graph is not readable", crate)
