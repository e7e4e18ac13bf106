import base64
import json
import os
import sys
import zipfile
from pathlib import Path

import pytest

from biaslab.cli import main
from biaslab.core.errors import InputError
from biaslab.core.files import write_text
from biaslab.run import resume
from biaslab.run.crate.reading import Run, opened_run
from biaslab.run.crate.writing import write_crate
from biaslab.run.jobs import Job
from biaslab.run.manifest import TAKEN
from biaslab.run.records import StepRecord
from biaslab.run.resume import Source
from biaslab.run.root import repository
from biaslab.run.taken import read_taken, taken_records
from travel_data import CODE, MADE, make_run

TABLE, EMBEDDING = "results/origins/unit/bias.tsv", f"results/{next(iter(MADE))}"
FIGURE, TEXTS = "results/origins/tables/table1.tsv", "results/origins/unit/documents.parquet"


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """A folder with the data alone, and a crate beside it of what was made of them elsewhere."""
    write_crate(make_run(tmp_path / "run"), tmp_path / "crate.zip", repository(), ["results"])
    folder = tmp_path / "empty"
    write_text(folder / "own.txt", "mine")
    monkeypatch.chdir(folder)
    monkeypatch.setattr(resume, "make_plan", lambda *_: Plan)
    return folder


class Plan:
    """What is asked of a plan here."""

    record = staticmethod(lambda: {"areas": ["origins"], "seed": 1})


def jobs_of_today(code, told=()):
    """Return the jobs as they are planned now; steps of `told` have another seed."""
    steps = {"train": [EMBEDDING], "measure": [TABLE, TEXTS], "report_one": [FIGURE]}
    inputs = {"train": ["own.txt"], "measure": [EMBEDDING, "own.txt"], "report_one": [TABLE]}
    return [
        Job(rule, tuple(inputs[rule]), (output,), False, "", note(rule, code, 2 if rule in told else 1))
        for rule, outputs in steps.items()
        for output in outputs
        if (inputs := {**inputs, "measure": [EMBEDDING if output == TABLE else "own.txt"]})
    ]


def note(rule, code, seed=1):
    params = [f"'{(CODE | code)[rule]}'", "'x86-64-v3'", f"'{{\"seed\": {seed}}}'"]
    return {"rule": rule, "params": params, "conda_env": rule}


@pytest.fixture
def go_on(empty, monkeypatch):
    """Return a function that goes on from the crate in the empty folder; steps write what they once did."""

    def run(code=None, writes=None, **options):
        said, made = [], []

        def make(files):
            made.extend(files)
            for file in files:
                write_text(file, writes or f"{file.removeprefix('results/')}\n")
            return 0

        monkeypatch.setattr(resume, "planned_jobs", lambda _: jobs_of_today(code or {}))
        with opened_run(empty.parent / "crate.zip", with_steps=True) as opened:
            source = Source("crate.zip", opened, **options)
            taken = resume.announce(source)
            choice, seed = resume.choose(source, [], {}, empty, said.append)
            exit_code = resume.take(source, taken, choice, seed, make, said.append)
        return exit_code, said, made

    return run


def there(folder):
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return {name for name in found if not name.startswith((".snakemake", "results/logs"))}


def test_results_are_copied_and_noted_for_snakemake_and_for_whoever_goes_on(go_on, empty):
    code, said, made = go_on()
    assert (code, made, there(empty)) == (0, [], {"own.txt", TABLE})
    assert said[0] == "crate.zip: 1 results of 1 steps are taken as done"
    assert "to be made: measure, 1 steps of tables, figures and the audit" in said  # its texts
    taken = read_taken(empty / "results")
    assert (taken.source, taken.environment["cpus"]) == ("crate.zip", os.cpu_count())
    assert {record.rule for record in taken_records(empty / "results")} == {"train", "measure", "report_one"}
    assert noted(empty) == {EMBEDDING, TABLE, TEXTS, FIGURE}  # also of what is not here


def noted(folder):
    """Return the files that Snakemake is told to be done."""
    names = (path.name for path in (folder / ".snakemake/metadata").iterdir())
    return {base64.b64decode(name).decode() for name in names}


def test_a_figure_whose_code_has_changed_is_not_noted_as_done(go_on, empty):
    go_on({"report_one": "e" * 16})
    assert noted(empty) == {EMBEDDING, TABLE, TEXTS}


def times(folder):
    return {name: (folder / name).stat().st_mtime_ns for name in there(folder)}


def test_the_same_command_again_changes_nothing(go_on, empty):
    go_on()
    before, note, records = times(empty), read_taken(empty / "results"), taken_records(empty / "results")
    go_on()
    assert times(empty) == before
    assert read_taken(empty / "results") == note
    assert taken_records(empty / "results") == records


def test_a_result_that_is_copied_again_is_no_newer_than_what_was_made_of_it(go_on, empty):
    go_on()
    write_text(empty / FIGURE, "made here by code of today")
    (empty / TABLE).unlink()
    go_on()
    assert times(empty)[TABLE] <= times(empty)[FIGURE]


def test_a_result_with_other_bytes_is_replaced(go_on, empty):
    write_text(empty / TABLE, "older")
    go_on()
    assert (empty / TABLE).read_text() != "older"


def test_a_touched_input_makes_no_result_look_older_than_it(go_on, empty):
    go_on()
    write_text(empty / EMBEDDING, f"{EMBEDDING.removeprefix('results/')}\n")
    later = (empty / TABLE).stat().st_mtime_ns + 10**9
    os.utime(empty / EMBEDDING, ns=(later, later))
    go_on()
    assert times(empty)[TABLE] >= later


def test_nothing_is_taken_on_request(go_on, empty):
    go_on(trusts=False)
    assert there(empty) == {"own.txt"}


def test_a_rechecked_step_with_the_same_bytes_is_in_the_report(go_on, empty):
    _, said, made = go_on(recheck=9, seed=3)
    assert made == [EMBEDDING, TABLE, TEXTS]  # also what no crate holds: its digest is known
    assert "3 of 3 steps drawn by the seed 3 gave the same bytes" in said[-1]
    report = json.loads((empty / "results" / TAKEN).read_text())
    assert report["recheck"] == {"seed": 3, "drawn": [EMBEDDING, TABLE, TEXTS], "equal": 3}


@pytest.fixture
def not_installed(monkeypatch):
    """Return a function after which steps of some rules need a library that is not here."""

    def lack(*rules):
        monkeypatch.setattr(resume, "_extras_of_environments", lambda _: dict.fromkeys(rules, "neural"))
        why = "torch is not installed; pip install 'biaslab[neural]'"
        monkeypatch.setattr(resume, "missing_extra", lambda extra: why if extra else "")

    return lack


def test_what_cannot_be_made_here_is_not_drawn_nor_what_is_made_of_it(go_on, not_installed):
    not_installed("train")
    _, said, made = go_on(recheck=9, seed=3)
    assert made == [TEXTS]  # the table is made of an embedding that no crate holds
    line = "2 of 3 steps cannot be made again here: torch is not installed; pip install 'biaslab[neural]'"
    assert f"{line}; the others are drawn from" in said
    assert "1 of 1 steps drawn by the seed 3 gave the same bytes" in said[-1]


def test_a_recheck_of_nothing_is_refused(go_on, empty, not_installed):
    not_installed("train", "measure")
    with pytest.raises(InputError, match=r"^3 of 3 steps cannot be made again here: torch is not installed"):
        go_on(recheck=1)
    assert there(empty) == {"own.txt"}


def test_rewritten_code_that_cannot_be_run_here_may_be_drawn(go_on, empty, not_installed):
    not_installed("train")
    _, _, made = go_on({"train": "e" * 16}, recheck=1)
    assert made == [EMBEDDING]  # in a real run the library is missed before anything is made


@pytest.fixture
def left_out(empty, monkeypatch):
    """Return a function that says what is left out where steps of `told` have other settings now."""

    def run(*told, n_jobs=None, **options):
        monkeypatch.setattr(resume, "planned_jobs", lambda _: jobs_of_today({}, told)[:n_jobs])
        with opened_run(empty.parent / "crate.zip", with_steps=True) as opened:
            source = Source("crate.zip", opened, **options)
            resume.announce(source)
            choice, _ = resume.choose(source, [], {}, empty, str)
            return resume.left_out(choice, {}, {"datasets": {}}, empty, str)

    return run


def test_what_cannot_be_made_here_is_left_out_with_what_is_missing_and_nothing_else(left_out, not_installed):
    not_installed("train")
    assert left_out() == {}  # its embedding is not here, and nothing needs it
    missing = "train: torch is not installed; pip install 'biaslab[neural]'"
    assert left_out("measure") == {missing: [TABLE.removeprefix("results/")]}


def test_where_nothing_can_go_without_it_what_is_missing_is_an_error(left_out, not_installed):
    not_installed("train")
    with pytest.raises(InputError, match=r"^train: torch is not installed.* cannot go on from the other run"):
        left_out("measure", n_jobs=2)
    with pytest.raises(InputError, match=r"^train: torch is not installed.* cannot go on from the other run"):
        left_out("train", recheck=1)  # drawn, as its settings are other ones


def test_a_rechecked_step_with_other_bytes_leaves_nothing(go_on, empty):
    with pytest.raises(InputError, match=r"crate\.zip: 0 of 1 steps .* nothing of it is taken"):
        go_on(recheck=1, writes="another")
    assert there(empty) == {"own.txt"}


def test_a_recheck_with_other_bytes_deletes_nothing_that_was_whole_before(go_on, empty):
    go_on()
    with pytest.raises(InputError, match=r"nothing of it is taken"):
        go_on({"train": "e" * 16}, recheck=1, writes="another")
    assert there(empty) == {"own.txt", TABLE}


def test_results_of_code_that_has_changed_are_taken_and_named(go_on, empty):
    changed = {"train": "e" * 16}
    _, said, made = go_on(changed)
    assert any(
        line.endswith("without a check: train; --recheck N makes N of their steps again") for line in said
    )
    assert (made, TABLE in there(empty)) == ([], True)
    assert read_taken(empty / "results").rewritten == ("train",)
    _, said, made = go_on(changed, recheck=1)
    assert (made, TABLE in there(empty)) == ([EMBEDDING], True)


def truncated(crate):
    crate.write_bytes(crate.read_bytes()[:-200])


def damaged(crate):
    with zipfile.ZipFile(crate) as archive:
        member = archive.getinfo(TABLE)
    data = bytearray(crate.read_bytes())
    data[member.header_offset + 30 + len(TABLE) + member.compress_size // 2] ^= 255
    crate.write_bytes(data)


def add(name, text="x"):
    def change(crate):
        with zipfile.ZipFile(crate, "a") as archive:
            archive.writestr(name, text)

    return change


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda crate: crate.unlink(), "no such file or folder"),
        (truncated, "not a whole zip archive"),
        (damaged, "not a whole zip archive"),
        (add("results/../../x"), "leaves the crate"),
        (add("results/origins/unit/more.tsv"), "is not in the manifest"),
        (add("records.json"), "two files of the same name"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_crate_that_is_not_sound_is_refused_in_a_line_and_nothing_is_written(
    empty, monkeypatch, capsys, change, message
):
    change(empty.parent / "crate.zip")
    monkeypatch.setattr(sys, "argv", ["biaslab", "run", "--from", str(empty.parent / "crate.zip")])
    with pytest.raises(SystemExit) as stop:
        main()
    said = capsys.readouterr().err.splitlines()
    assert (stop.value.code, len(said)) == (2, 1)
    assert message in said[0]
    assert [path.name for path in empty.iterdir()] == ["own.txt"]


def test_trust_without_another_run_is_refused(empty, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["biaslab", "run", "--recheck", "3"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert "name it with --from" in capsys.readouterr().err


def test_data_are_known_that_another_run_had_or_that_its_steps_have_read():
    """The run may have gone on from a third one, which alone had them."""
    read = {"results/datasets/two/b.csv": "3" * 64, "results/origins/x.tsv": "2" * 64, "own.txt": "4" * 64}
    step = StepRecord("measure", "", (), read, {})
    manifest = {"outputs": {"datasets/one/a.csv": "1" * 64, "origins/x.tsv": "2" * 64}}
    known = resume._known_data(Run(Path(), steps=(step,), manifest=manifest))
    assert known == {"one": "1" * 64, "two": "3" * 64}
