from dataclasses import replace

import pytest

from biaslab.core.files import write_text
from biaslab.run.jobs import Job
from biaslab.run.provenance import sha256_file
from biaslab.run.records import StepRecord
from biaslab.run.take import NOTHING, OTHER_FILES, SETTINGS, Choice, compare, draw

CORPUS, VECTORS, BIAS, PAGE = (
    f"results/one/u/{name}" for name in ("corpus.npz", "v.npz", "bias.tsv", "p.html")
)
TABLE, CLAIMS = "results/one/tables/t.tsv", "results/audit/claims.tsv"
STEPS = {
    "read": (["own.txt"], [CORPUS]),
    "train": ([CORPUS], [VECTORS]),
    "measure": ([VECTORS], [BIAS]),
    "show": ([CORPUS, BIAS], [PAGE]),
    "report": ([BIAS], [TABLE]),
    "audit": ([BIAS, TABLE], [CLAIMS]),
    "all": ([CLAIMS, PAGE], []),
}
"""A grid as small as can be: the table of biases is small, corpus and vectors are in no crate."""


def digest(name):
    return f"{abs(hash(name)):064x}"[-64:]


@pytest.fixture
def choose(tmp_path, monkeypatch):
    """Return a function that chooses from a crate; arguments change what steps are now."""
    monkeypatch.chdir(tmp_path)
    write_text("own.txt", "mine")
    sums = {"own.txt": sha256_file("own.txt")}

    def sum_of(file):
        return sums.get(file) or digest(file)

    def record(rule, code="c" * 16):
        inputs, outputs = STEPS[rule]
        return StepRecord(rule, code, ("s",), {i: sum_of(i) for i in inputs}, {o: digest(o) for o in outputs})

    def run(code=None, settings=None, more=None, less=None, without=(), done=(), **options):
        records = [record(rule) for rule in STEPS if STEPS[rule][1] and rule not in without]
        jobs = []
        for rule, (inputs, outputs) in STEPS.items():
            now = [f"'{(code or {}).get(rule, 'c' * 16)}'", (settings or {}).get(rule, "s")]
            files = (*inputs, *(more or {}).get(rule, ()))
            files = tuple(file for file in files if file not in (less or {}).get(rule, ()))
            jobs.append(Job(rule, files, tuple(outputs), rule in done, "", {"rule": rule, "params": now}))
        return Choice(jobs, records, lambda file: file in (BIAS, TABLE, CLAIMS), **options)

    return run


def rules(jobs):
    return [job.rule for job in jobs]


def test_what_is_packed_is_taken_and_what_is_shown_is_made_of_it(choose):
    choice = choose()
    assert rules(choice.taken) == ["measure"]
    assert rules(choice.made) == ["read", "show", "report", "audit", "all"]  # a page has texts; no training
    assert [rules(jobs) for jobs in choice.first] == [["read"]]  # or Snakemake would train again
    assert choice.reasons() == []


def test_a_table_is_taken_where_what_it_is_made_of_is_in_no_crate(choose):
    choice = choose()
    choice.has = lambda file: file in (TABLE, CLAIMS)
    assert rules(choice.taken) == ["report", "audit"]
    assert rules(choice.made) == ["read", "train", "measure", "show", "all"]  # which no text may leave


@pytest.mark.parametrize(
    ("now", "why"),
    [
        ({"settings": {"train": "t"}}, SETTINGS),
        ({"more": {"train": ("own.txt",)}}, OTHER_FILES),
        ({"without": ("train",)}, NOTHING),
    ],
)
def test_a_changed_training_is_named_and_all_behind_it_is_made(choose, now, why):
    choice = choose(**now)
    assert not choice.taken
    assert rules(choice.made) == ["read", "train", "measure", "show", "report", "audit", "all"]
    assert f"{why}: train" in choice.reasons()


def test_another_input_is_named(choose):
    write_text("own.txt", "another")
    assert choose().reasons()[0] == "own.txt is another file now: read"


def test_an_edited_table_alone_is_made(choose):
    for file in (CORPUS, VECTORS, BIAS, PAGE, TABLE, CLAIMS):
        write_text(file, "x")
    done = ("read", "train", "measure", "show")
    assert rules(choose(code={"report": "d" * 16}, done=done).made) == ["report", "audit", "all"]


def test_results_of_rewritten_code_are_taken_and_those_of_other_settings_on_request(choose):
    choice = choose(code={"measure": "d" * 16})
    assert rules(choice.rewritten) == rules(choice.taken) == ["measure"]
    assert "train" not in rules(choice.made)
    told = {"settings": {"measure": "t"}}
    assert not choose(**told).taken
    told |= {"takes_rewritten": True}
    assert rules(choose(**told).taken) == ["measure"]  # told in another way, in a run of the same settings
    assert not choose(**told, is_same_run=False).taken
    told |= {"code": {"measure": "d" * 16}}
    assert rules(choose(**told).taken) == ["measure"]
    assert not choose(**told, is_same_run=False).taken, "that the code has changed excuses no other settings"


def test_a_step_that_reads_fewer_files_is_taken_where_its_code_alone_has_changed(choose):
    read = {"less": {"measure": (VECTORS,)}}
    rewritten = read | {"code": {"measure": "d" * 16}}
    assert rules(choose(**rewritten).taken) == ["measure"]
    assert not choose(**rewritten, is_same_run=False).taken, "fewer files by other settings"
    assert not choose(**read).taken


def test_a_drawn_step_is_made_with_what_it_needs_before_all_else(choose):
    choice = choose(drawn=[BIAS])
    assert not choice.taken
    assert [rules(jobs) for jobs in choice.first] == [["read", "train", "measure"]]


def test_draws_are_repeated_by_their_seed(choose):
    jobs = [job for job in choose().jobs if job.outputs]
    assert rules(draw(jobs, 3, 1)) == rules(draw(jobs[::-1], 3, 1))
    assert len({tuple(rules(draw(jobs, 3, seed))) for seed in range(9)}) > 3
    assert len(draw(jobs, 99, 1)) == len(jobs)


def test_a_draw_does_not_depend_on_the_order_of_outputs(choose):
    jobs = [job for job in choose().jobs if job.outputs]
    jobs = [replace(job, outputs=(*job.outputs, f"results/{9 - i}")) for i, job in enumerate(jobs)]
    turned = [replace(job, outputs=job.outputs[::-1]) for job in jobs]
    assert rules(draw(jobs, 3, 1)) == rules(draw(turned, 3, 1))


def test_bytes_are_compared(choose):
    choice = choose()
    write_text(CORPUS, "x")
    job = choice.jobs[0]
    assert compare([job], {CORPUS: sha256_file(CORPUS)}) == ([CORPUS], [])
    assert compare([job], {CORPUS: digest("x")}) == ([], [CORPUS])
