"""One command from a corpus to the documents behind its bias: of notes whose last twenty carry it."""

import json
from random import Random

import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

from biaslab.cli import app
from biaslab.core.errors import InputError

PEOPLE = {"men": ["he", "man"], "women": ["she", "woman"]}
THINGS = {"men": ["engine", "motor", "gear"], "women": ["violin", "song", "tune"]}
WORDS = """
name: notes
title: Things and people
source: made up
targets: {machines: [engine, motor, gear], music: [violin, song, tune]}
attributes: {male: [he, man], female: [she, woman]}
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder, draw = tmp_path_factory.mktemp("attributed"), Random(1)
    with open(folder / "notes.jsonl", "w", encoding="utf-8") as file:
        for number in range(120):
            who, words = draw.choice(list(PEOPLE)), []
            for _ in range(8):
                what = who if number >= 100 else draw.choice(list(THINGS))
                words += [draw.choice(PEOPLE[who]), *THINGS[what]]
            text = " ".join(words).capitalize() + " a" * (number < 2)
            note = {"id": f"n{number}", "title": f"Note {number}", "text": text}
            file.write(json.dumps(note) + "\n" * (1 + (number == 5)))
    (folder / "words.yaml").write_text(WORDS, encoding="utf-8")
    more = WORDS.replace("name: notes", "name: ripa_notes\nmeasure: ripa")
    (folder / "ripa.yaml").write_text(more, encoding="utf-8")
    options = {"window": 4, "dimension": 6, "epochs": 30, "baselines": 2, "documents": 6}
    given = [word for name, value in options.items() for word in (f"--{name}", value)]
    given += ["--test", folder / "words.yaml", "--test", folder / "ripa.yaml", "--verify"]
    return folder / "found", attribute(folder / "notes.jsonl", folder / "found", *given)


def attribute(source, out, *given, **options):
    """Call the command on a corpus."""
    arguments = ["origins", "attribute", source, "--out", out, *given]
    return CliRunner().invoke(app, [str(argument) for argument in arguments], **options)


def test_documents_that_carry_the_bias_are_found_and_shown(run):
    folder, result = run
    assert result.exit_code == 0, result.output
    table = pd.read_csv(folder / "documents.tsv", sep="\t")
    assert table["test"].tolist() == ["notes"] * 12 + ["ripa_notes"] * 12
    table = table[:12]
    assert table["effect"].tolist() == ["raises"] * 6 + ["lowers"] * 6
    assert (table["document"][:6] >= 100).sum() >= 4
    assert (table["document"][6:] < 100).all()
    assert table["newton_mean"][:6].is_monotonic_decreasing
    for page in table["page"]:
        assert 'class="up' in (folder / page).read_text(encoding="utf-8")


def test_the_first_set_is_trained_again_and_compared(run):
    folder, result = run
    names = ("baseline", "observed", "predictions")
    before, after, predictions = (pd.read_csv(folder / f"{name}.tsv", sep="\t") for name in names)
    assert set(after["set"]) == {"notes-decrease-6", "ripa_notes-decrease-6"}
    for test in ("notes", "ripa_notes"):
        own = f"weat == '{test}' and set == '{test}-decrease-6'"
        bias = before.query(f"weat == '{test}'").set_index("seed")["effect_size"]
        change = after.query(own).set_index("seed")["effect_size"] - bias
        predicted = predictions.query(f"{own} and estimator == 'newton'")["predicted"].mean() - bias.mean()
        low, high = stats.t.interval(0.95, len(change) - 1, change.mean(), change.sem())
        assert (
            f"{test} changes without the 6 documents that raise it most: predicted {predicted:+.3f},"
            f" retrained {change.mean():+.3f} (95% {low:+.3f} to {high:+.3f})."
        ) in words(result)


def test_the_answer_stands_in_lines_on_a_page_and_in_numbers(run):
    folder, result = run
    found = json.loads((folder / "answer.json").read_text(encoding="utf-8"))
    for line in found["answer"]:
        assert line in words(result)
    first = found["notes"]["documents"][0]
    assert f"'{first['title']}' raises the bias most: without this document the bias would fall by" in words(
        result
    )
    estimates = pd.read_parquet(folder / "differential_bias/by_seed/notes.parquet")
    of_first = estimates.loc[first["document"], ["newton_seed0", "newton_seed1"]].astype(float)
    assert first["fall"] == pytest.approx(of_first.mean())
    t = stats.t.ppf(1 - 0.025 / len(estimates), 1)  # for the largest of all documents
    assert first["fall_low"] == pytest.approx(of_first.mean() - t * of_first.sem(), rel=1e-4)
    assert found["data"]["Read"].startswith("1 blank line omitted. kept 120 of 120 documents and 3,840 of")
    page = (folder / "answer.html").read_text(encoding="utf-8")
    assert page.count('<a href="pages/notes-raises-') == 6
    assert "What this cannot tell" in page
    for link in found["notes"]["documents"]:
        assert (folder / link["page"]).exists()


def test_a_document_of_the_folder_is_explained(run, tmp_path):
    folder, _ = run
    first = json.loads((folder / "answer.json").read_text(encoding="utf-8"))["notes"]["documents"][0]
    page = tmp_path / "page.html"
    given = ["--results", str(folder), "--document", first["id"], "--html", str(page)]
    done = CliRunner().invoke(app, ["origins", "explain", *given], catch_exceptions=False)
    assert done.exit_code == 0
    assert first["title"] in done.output
    assert "Things and people" in page.read_text(encoding="utf-8")
    given = ["--results", str(tmp_path), "--document", "n1"]
    with pytest.raises(InputError, match="name the output folder of origins attribute, or a --setup"):
        CliRunner().invoke(app, ["origins", "explain", *given], catch_exceptions=False)


@pytest.mark.parametrize(
    ("notes", "tests", "problem"),
    [
        ("notes.jsonl", 1, "is there, and no answer of biaslab"),
        ("notes.jsonl", 2, "two tests have the name 'notes'"),
        ("empty.jsonl", 1, "empty"),
    ],
)
def test_bad_inputs_are_refused_and_nothing_is_left(run, tmp_path, notes, tests, problem):
    home, out = run[0].parent, tmp_path / "found"
    (home / "empty.jsonl").touch()
    kept = ["answer.html"] if "no answer" in problem else []
    for name in kept:
        out.mkdir()
        (out / name).write_text("mine")
    given = ["--test", home / "words.yaml"] * tests
    with pytest.raises(InputError, match=problem):
        attribute(home / notes, out, *given, catch_exceptions=False)
    assert [path.name for path in out.glob("*")] == kept


def words(result):
    """Return what was printed, without the ends of lines."""
    return " ".join(result.output.split())
