"""What is taken of another run, what is made, and what a spot check finds."""

import json
import os
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from biaslab.core.errors import InputError
from biaslab.core.files import write_text
from biaslab.run.plan.jobs import VARIABLE, Job
from biaslab.run.plan.plan import make_plan
from biaslab.run.record.manifest import TAKEN
from biaslab.run.record.records import StepRecord
from biaslab.run.record.taken import Taken, announced, check_taken, note_taken, read_taken, taken_records
from biaslab.run.root import repository
from biaslab.run.travel import travel
from biaslab.run.travel.crate.reading import Run, opened_run
from biaslab.run.travel.crate.writing import write_crate
from biaslab.run.travel.travel import Choice, Source, draw
from refusals import refusal
from travel_data import CODE, MADE, NOW, make_run, note

TABLE, EMBEDDING = "results/origins/unit/bias.tsv", f"results/{next(iter(MADE))}"
FIGURE, TEXTS = "results/origins/tables/table1.tsv", "results/origins/unit/documents.parquet"
RECORD = {"areas": ["origins"], "seed": 1}


def command_of(rule, seed=1):
    return f"biaslab step origins.{rule} --given '{{\"seed\": {seed}}}'"


MEASURE = Job("measure", (EMBEDDING,), (TABLE,), command_of("measure"))
REPORT = Job("report_one", (TABLE,), (FIGURE,), command_of("report_one"))
MORE = Job("more", (EMBEDDING,), ("results/origins/unit/more.tsv",), "more")  # not in the crate


def jobs_of_today(told=()):
    """Return the jobs as they are planned now; steps of `told` have another seed."""
    steps = [
        ("train", "own.txt", EMBEDDING),
        ("measure", EMBEDDING, TABLE),
        ("measure", "own.txt", TEXTS),
        ("report_one", TABLE, FIGURE),
    ]
    return [
        Job(rule, (read,), (made,), command_of(rule, 2 if rule in told else 1)) for rule, read, made in steps
    ]


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """A folder with the data alone, and a crate beside it of what was made of them elsewhere."""
    write_crate(make_run(tmp_path / "run"), tmp_path / "crate.zip", repository(), ["results"])
    folder = tmp_path / "empty"
    write_text(folder / "own.txt", "mine")
    monkeypatch.chdir(folder)
    return folder


@dataclass
class Gone:
    code: int
    said: list[str]
    made: list[str]
    unmarked: list[str]
    choice: Choice


@pytest.fixture
def go_on(empty, monkeypatch):
    """Return a function that goes on from the crate in the empty folder.

    Steps write what they once did, or `writes`; `planned` are the jobs that Snakemake would run. Steps of
    `told` have other commands in this run, steps of `told_there` for the configuration of the crate. Both
    have the same `jobs`, if there are any.
    """

    def run(
        code=None, writes=None, told=(), told_there=(), config=RECORD, planned=(), fails=0, jobs=(), **options
    ):
        said, made, unmarked = [], [], []
        now, there = (jobs or jobs_of_today(others) for others in (told, told_there))
        codes = {f"origins.{rule}": digest for rule, digest in (CODE | (code or {})).items()}
        monkeypatch.setattr(travel, "digests", lambda names: codes)

        def make(files):
            if fails == 130:
                raise KeyboardInterrupt
            if fails:
                return fails
            made.extend(files)
            for file in files:
                write_text(file, writes or f"{file.removeprefix('results/')}\n")
            return 0

        with opened_run(empty.parent / "crate.zip", with_steps=True) as opened:
            source = Source("crate.zip", opened, **options)
            taken = travel.origin(source)
            with announced(travel.HERE, taken):
                choice = Choice(source, now, there, config, {})
                said += travel.describe(choice)
                code = travel.take(choice, taken, lambda: planned, make, unmarked.extend, said.append)
        return Gone(code, said, made, unmarked, choice)

    return run


def there(folder):
    found = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return {name for name in found if not name.startswith((".snakemake", "results/logs"))}


def times(folder):
    return {name: (folder / name).stat().st_mtime_ns for name in there(folder)}


def test_results_are_copied_and_noted_for_whoever_goes_on(go_on, empty):
    gone = go_on()
    assert (gone.code, gone.made, there(empty)) == (0, [], {"own.txt", TABLE})
    assert gone.said[0] == "crate.zip: 1 results of 1 steps are taken"
    assert gone.said[-1] == "to run: measure, 1 steps of tables, figures and the audit"  # its texts
    taken = read_taken(empty / "results")
    assert (taken.source, taken.environment["cpus"]) == ("crate.zip", os.cpu_count())
    assert {record.rule for record in taken_records(empty / "results")} == {"train", "measure", "report_one"}


def test_a_crate_without_records_of_steps_is_named(go_on, empty):
    write_crate(empty.parent / "run/results", empty.parent / "crate.zip", repository(), [])
    gone = go_on()
    assert gone.said[1].startswith("it has no records of its steps; pack it with: audit crate")
    assert there(empty) == {"own.txt"}


def test_the_audit_is_made_here_although_the_crate_has_a_record_of_it(go_on, empty):
    run = make_run(empty.parent / "audited")
    claims, made = "audit/claims.tsv", {"rule": "audit", "input": [TABLE, TEXTS], "params": ["'x'"]}
    note(run.parent, claims, **made, input_checksums={}, starttime=NOW, endtime=NOW)
    os.utime(run / claims, (NOW, NOW))
    write_crate(run, empty.parent / "crate.zip", repository(), ["results"])
    audit = Job("audit", (TABLE, TEXTS), (f"results/{claims}", "results/audit/manifest.json"), "audit")
    gone = go_on(jobs=[*jobs_of_today(), audit])
    assert "audit" in {record.rule for record in gone.choice.source.run.steps}
    assert (audit in gone.choice.made, gone.made) == (True, [])
    assert there(empty) == {"own.txt", TABLE}


def test_the_same_command_again_changes_nothing(go_on, empty):
    go_on()
    before, note, records = times(empty), read_taken(empty / "results"), taken_records(empty / "results")
    go_on()
    assert times(empty) == before
    assert read_taken(empty / "results") == note
    assert taken_records(empty / "results") == records


def test_what_is_taken_is_no_newer_than_what_was_made_of_it(go_on, empty):
    go_on()
    write_text(empty / FIGURE, f"{FIGURE.removeprefix('results/')}\n")
    (empty / TABLE).unlink()
    go_on()
    assert times(empty)[TABLE] <= times(empty)[FIGURE]
    later = times(empty)[TABLE] + 10**9
    write_text(empty / EMBEDDING, f"{EMBEDDING.removeprefix('results/')}\n")
    os.utime(empty / EMBEDDING, ns=(later, later))
    go_on()
    assert times(empty)[TABLE] >= times(empty)[EMBEDDING]


def test_results_copied_here_with_an_old_time_are_not_older_than_their_inputs(go_on, empty):
    """Otherwise Snakemake would rerun the steps that `describe` calls taken."""
    go_on()
    os.utime(empty / TABLE, (1, 1))
    go_on()
    assert times(empty)[TABLE] >= times(empty)["own.txt"]


def test_a_later_input_ages_what_was_made_here_in_its_order(go_on, empty):
    """Otherwise a checkout of the same commit would cost what has been computed since the crate."""
    go_on()
    for made, read in ((1000, 900), (900, 1000)):
        write_text(empty / EMBEDDING, f"{EMBEDDING.removeprefix('results/')}\n")
        write_text(empty / TABLE, "of other settings")
        os.utime(empty / TABLE, (made, made))
        os.utime(empty / EMBEDDING, (read, read))
        go_on(told=["measure"], config=RECORD | {"more": 1})
        after = times(empty)
        assert min(after[EMBEDDING], after[TABLE]) >= after["own.txt"]
        assert (after[TABLE] > after[EMBEDDING]) == (made > read), "what is stale is made again"


def test_snakemake_forgets_how_agreeing_results_were_made_and_no_others(go_on, empty):
    """A killed step, say, or a checkout elsewhere, which gives the inputs other names."""
    planned = [MEASURE, jobs_of_today()[2], REPORT]
    assert go_on(planned=planned).unmarked == [], "nothing was here"
    write_text(empty / FIGURE, f"{FIGURE.removeprefix('results/')}\n")
    assert go_on(planned=planned).unmarked == [TABLE]
    assert go_on(told=["measure"], planned=planned).unmarked == []


def test_a_result_with_other_bytes_stays_and_nothing_computed_from_the_recorded_one_is_taken(go_on, empty):
    write_text(empty / EMBEDDING, "made here")
    gone = go_on()
    assert there(empty) == {"own.txt", EMBEDDING}
    assert (empty / EMBEDDING).read_text() == "made here"
    assert "not taken, their inputs are rerun: measure" in gone.said


def test_only_readers_of_a_file_with_other_bytes_are_rerun(go_on, empty):
    both = Job("both", ("own.txt",), (EMBEDDING, TEXTS), "biaslab step origins.both")
    write_text(empty / EMBEDDING, f"{EMBEDDING.removeprefix('results/')}\n")
    write_text(empty / TEXTS, "other")
    go_on(jobs=[both, MEASURE, REPORT])
    assert there(empty) == {"own.txt", EMBEDDING, TEXTS, TABLE}


@pytest.mark.parametrize("text", ["", "other"])
def test_results_computed_from_a_missing_file_are_rerun_when_it_is_taken_from_another_crate(
    go_on, empty, text
):
    """Their file may have had other bytes; all other files are copied with the time of the oldest result."""
    name = "results/origins/unit/of_table.tsv"
    jobs = [*jobs_of_today(), Job("own", (TABLE,), (name,), "own")]
    go_on(jobs=jobs)
    write_text(empty / name, "computed here")
    before = times(empty)
    write_crate(
        make_run(empty.parent / "another", text=text), empty.parent / "crate.zip", repository(), ["results"]
    )
    go_on(jobs=jobs)
    assert times(empty) == before
    (empty / TABLE).unlink()
    go_on(jobs=jobs)
    assert times(empty)[TABLE] > times(empty)[name] == before[name]


def test_another_input_and_all_that_was_made_of_it_is_not_taken(go_on, empty):
    write_text(empty / "own.txt", "another")
    gone = go_on()
    assert there(empty) == {"own.txt"}
    assert "not taken, own.txt has changed: train, measure" in gone.said


def test_in_a_run_of_other_settings_only_what_the_same_commands_make_is_taken(go_on, empty):
    gone = go_on(config=RECORD | {"seed": 2}, told=["train"])
    assert "not taken, their settings differ: train" in gone.said
    assert there(empty) == {"own.txt"}
    go_on(config=RECORD | {"more": 1})
    assert TABLE in there(empty)


def test_commands_that_newer_code_writes_in_another_way_are_compared_with_their_like(go_on, empty):
    go_on(told=["measure"], told_there=["measure"], config=RECORD | {"more": 1})
    assert TABLE in there(empty)


def test_what_was_taken_belongs_to_a_configuration(go_on, empty):
    go_on()
    taken = read_taken(empty / "results")
    check_taken(taken, RECORD)
    check_taken(taken, RECORD | {"failed": {"a step": ["a file"]}, "datasets": {"mirror": "elsewhere"}})
    with pytest.raises(InputError, match=r"from crate\.zip for another configuration; use an empty folder"):
        check_taken(taken, RECORD | {"seed": 2})
    check_taken(Taken(), RECORD)


def test_work_of_several_steps_may_be_that_of_one_now(go_on, empty):
    """A crate of an older version: its records name no commands."""
    one = Job("both", ("own.txt",), (EMBEDDING, TABLE), "biaslab step origins.both")
    gone = go_on(jobs=[one, REPORT])
    assert TABLE in there(empty)
    assert any("without a check: both" in line for line in gone.said)
    codes = {record.rule: record.code for record in taken_records(empty / "results")}
    assert codes == {"both": "", "report_one": CODE["report_one"]}


# --- what must be there before the run


def test_what_a_missing_step_reads_is_made_before_where_snakemake_would_repeat_what_is_done(go_on, empty):
    gone = go_on(jobs=[*jobs_of_today(), MORE])
    assert gone.made == [EMBEDDING]
    assert times(empty)[EMBEDDING] <= times(empty)[TABLE]
    assert "before the run: train" in gone.said


def test_where_nothing_that_is_done_would_be_repeated_all_is_left_to_the_run(go_on):
    gone = go_on()
    assert gone.made == []
    assert [job.rule for job in gone.choice.made] == ["measure", "report_one"]


def test_what_needs_another_of_these_steps_is_made_after_it(go_on, empty):
    crate = empty.parent / "crate.zip"
    write_crate(empty.parent / "run/results", crate, repository(), ["results"], ["origins/unit/bias.tsv"])
    gone = go_on(jobs=[*jobs_of_today(), replace(MORE, inputs=(TABLE,))])
    assert gone.made == [EMBEDDING, TABLE]
    assert [line for line in gone.said if "before" in line] == [
        "before the run: train",
        "before the run: measure",
    ]
    assert times(empty)[EMBEDDING] <= times(empty)[TABLE] <= times(empty)[FIGURE]


def test_what_was_made_with_other_bytes_is_named_and_its_readers_are_rerun(go_on, empty):
    gone = go_on(writes="other", jobs=[*jobs_of_today(), MORE])
    assert f"{EMBEDDING}: was computed here with other bytes than in crate.zip" in gone.said
    assert times(empty)[EMBEDDING] > times(empty)[TABLE]
    assert TABLE not in {file for record in taken_records(empty / "results") for file in record.outputs}


# --- a spot check


def test_a_rechecked_step_with_the_same_bytes_is_in_the_report(go_on, empty):
    gone = go_on(recheck=9, seed=3)
    assert sorted(gone.made) == sorted([EMBEDDING, TABLE, TEXTS])
    assert "3 of 3 steps drawn by the seed 3 gave the same bytes" in gone.said[-1]
    report = json.loads((empty / "results" / TAKEN).read_text())["recheck"]
    assert (report["seed"], sorted(report["drawn"]), report["equal"]) == (3, sorted(gone.made), 3)


def test_what_was_taken_before_is_made_again_all_the_same(go_on, empty):
    go_on()
    assert "no result is taken" in refusal(go_on, recheck=9, writes="another")


def test_copied_results_keep_their_note_when_the_run_ends_early(go_on, empty):
    """Otherwise a later run of another configuration would take them for its own."""
    with pytest.raises(KeyboardInterrupt):
        go_on(fails=130, recheck=1)
    assert read_taken(empty / "results").config
    assert go_on(fails=1, recheck=1).code == 1
    taken = read_taken(empty / "results")
    assert "for another configuration" in refusal(check_taken, taken, RECORD | {"seed": 2})
    with opened_run(empty.parent / "crate.zip", with_steps=True) as opened:
        assert travel.origin(Source("crate.zip", opened)).config == taken.config, "while it is planned, too"


def test_a_failed_recheck_restores_the_earlier_note(go_on, empty):
    go_on()
    note, records = read_taken(empty / "results"), taken_records(empty / "results")
    assert "no result is taken" in refusal(go_on, recheck=9, writes="another")
    assert (read_taken(empty / "results"), taken_records(empty / "results")) == (note, records)


def test_a_run_that_cannot_be_planned_leaves_no_note(empty):
    with pytest.raises(InputError), announced(travel.HERE, Taken("crate.zip")):
        raise InputError("the run cannot be planned")
    assert read_taken(travel.HERE) == Taken()
    assert not there(empty) - {"own.txt"}


def test_a_rechecked_step_with_other_bytes_leaves_nothing(go_on, empty):
    with pytest.raises(InputError, match=r"crate\.zip: 0 of 1 steps .* no result is taken"):
        go_on(recheck=1, writes="another")
    assert there(empty) == {"own.txt"}
    assert read_taken(empty / "results") == Taken()


def test_results_of_code_that_has_changed_are_taken_and_named(go_on, empty):
    changed = {"train": "e" * 16}
    gone = go_on(changed)
    line = (
        "computed by code that has changed since, and taken without a check: train; --recheck N reruns N of"
    )
    assert any(said.startswith(line) for said in gone.said)
    assert (gone.made, TABLE in there(empty)) == ([], True)
    assert read_taken(empty / "results").rewritten == ("train",)
    gone = go_on(changed, recheck=1)
    assert (gone.made, TABLE in there(empty)) == ([EMBEDDING], True)


def test_draws_are_repeated_by_their_seed_in_whatever_order_jobs_and_outputs_come():
    jobs = [Job("one", (), (f"results/{n}", f"results/{9 - n}"), "") for n in range(9)]
    turned = [replace(job, outputs=job.outputs[::-1]) for job in jobs[::-1]]
    drawn = [[min(job.outputs) for job in draw(some, 3, 1)] for some in (jobs, turned)]
    assert drawn[0] == drawn[1]
    assert len({tuple(id(job) for job in draw(jobs, 3, seed)) for seed in range(9)}) > 3
    assert len(draw(jobs, 99, 1)) == len(jobs)


# --- crates that are not sound


def truncated(crate):
    crate.write_bytes(crate.read_bytes()[:-200])


def damaged(crate):
    with zipfile.ZipFile(crate) as archive:
        member = archive.getinfo(TABLE)
    data = bytearray(crate.read_bytes())
    data[member.header_offset + 30 + len(TABLE) + member.compress_size // 2] ^= 255
    crate.write_bytes(data)


def named_twice(crate):
    with zipfile.ZipFile(crate, "a") as archive:
        archive.writestr("records.json", "x")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda crate: crate.unlink(), "no such file or folder"),
        (truncated, "the zip archive is damaged or cut off"),
        (damaged, "the zip archive is damaged or cut off"),
        (named_twice, "two files have the same name"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_crate_that_is_not_sound_is_refused_in_a_line_and_nothing_is_written(
    empty, biaslab, change, message
):
    change(empty.parent / "crate.zip")
    code, _, said = biaslab("run", "--from", empty.parent / "crate.zip")
    assert (code, said.count("\n")) == (2, 1)
    assert message in said
    assert [path.name for path in empty.iterdir()] == ["own.txt"]


def test_a_spot_check_without_another_run_is_refused(empty, biaslab):
    code, _, said = biaslab("run", "--recheck", 3)
    assert code == 2
    assert "name that run with --from" in said


def test_a_folder_with_results_for_another_configuration_is_refused_by_every_run(empty, biaslab, monkeypatch):
    crate, before = empty.parent / "crate.zip", Taken("a.zip", config="0")
    note_taken(travel.HERE, before, [])
    code, _, said = biaslab("run", "--from", crate, "--cores", 1, "-n")
    assert code == 2
    assert "taken in part from a.zip for another configuration; use an empty" in said.splitlines()[-1]
    assert read_taken(travel.HERE) == before
    raw = json.loads((empty.parent / "run/results/config.json").read_text())
    assert "use an empty folder" in refusal(make_plan, raw, repository())
    monkeypatch.setenv(VARIABLE, "jobs")
    assert make_plan(raw, repository()).areas, "the crate's configuration is planned in any folder"


def test_settings_on_the_command_line_are_refused_and_nothing_is_taken(empty, biaslab):
    crate = empty.parent / "crate.zip"
    code, _, said = biaslab("run", "--from", crate, "--cores", 1, "--config", "seed=2")
    assert code == 2
    assert "--config: not possible with --from; write the settings to a file" in said
    assert not (empty / TABLE).exists()


def test_data_are_known_that_another_run_had_or_that_its_steps_have_read():
    """The run may have gone on from a third one, which alone had them."""
    read = {"results/datasets/two/b.csv": "3" * 64, "results/origins/x.tsv": "2" * 64, "own.txt": "4" * 64}
    step = StepRecord("measure", "", read, {})
    manifest = {"outputs": {"datasets/one/a.csv": "1" * 64, "origins/x.tsv": "2" * 64}}
    known = travel.known_data(Run(Path(), steps=(step,), manifest=manifest))
    assert known == {"one": "1" * 64, "two": "3" * 64}
