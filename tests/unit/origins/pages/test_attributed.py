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
    files = {"test": folder / "words.yaml", "out": folder / "found"}
    options = {
        "window": 4,
        "dimension": 6,
        "epochs": 30,
        "baselines": 2,
        "documents": 6,
    } | files
    given = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    given += ["--test", str(folder / "ripa.yaml"), "--verify"]
    return folder / "found", CliRunner().invoke(
        app, ["origins", "attribute", str(folder / "notes.jsonl"), *given]
    )


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
    assert "notes without the 6 that raise it most: predicted -" in words(result)
    assert "ripa_notes without the 6 that raise it most: predicted -" in words(result)
    sets = pd.read_csv(folder / "observed.tsv", sep="\t")["set"]
    assert set(sets) == {"notes-decrease-6", "ripa_notes-decrease-6"}


def test_the_answer_stands_in_lines_on_a_page_and_in_numbers(run):
    folder, result = run
    found = json.loads((folder / "answer.json").read_text(encoding="utf-8"))
    for line in found["answer"]:
        assert line in words(result)
    first = found["notes"]["documents"][0]
    assert f"'{first['title']}' raises it most: without this document it would fall by" in words(result)
    estimates = pd.read_parquet(folder / "differential_bias/by_seed/notes.parquet")
    of_first = estimates.loc[first["document"], ["newton_seed0", "newton_seed1"]].astype(float)
    assert first["fall"] == pytest.approx(of_first.mean())
    t = stats.t.ppf(1 - 0.025 / len(estimates), 1)  # for the largest of all documents
    assert first["fall_low"] == pytest.approx(of_first.mean() - t * of_first.sem(), rel=1e-4)
    n_words = 120 * 8 * 4
    assert found["data"]["Read"] == (
        "1 blank line left out. kept 120 of 120 documents and"
        f" {n_words:,} of their {n_words:,} words; 120 words put in lower case; runs of letters left out: 2"
        " below 2 letters; vocabulary: 10"
    )
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
    with pytest.raises(InputError, match="name the folder of origins attribute, or a --setup"):
        CliRunner().invoke(app, ["origins", "explain", *given], catch_exceptions=False)


def test_an_answer_of_somebody_else_is_not_overwritten(run, tmp_path):
    (tmp_path / "found").mkdir()
    (tmp_path / "found/answer.html").write_text("mine")
    given = ["--test", str(run[0].parent / "words.yaml"), "--out", str(tmp_path / "found")]
    notes = str(run[0].parent / "notes.jsonl")
    with pytest.raises(InputError, match="is there, and no answer of biaslab"):
        CliRunner().invoke(app, ["origins", "attribute", notes, *given], catch_exceptions=False)
    assert [path.name for path in (tmp_path / "found").iterdir()] == ["answer.html"]


def words(result):
    """Return what was printed, without the ends of lines."""
    return " ".join(result.output.split())


def test_tests_of_one_name_are_refused(run, tmp_path):
    words = str(run[0].parent / "words.yaml")
    given = [
        str(run[0].parent / "notes.jsonl"),
        "--test",
        words,
        "--test",
        words,
        "--out",
        str(tmp_path / "o"),
    ]
    with pytest.raises(InputError, match="two tests are called 'notes'"):
        CliRunner().invoke(app, ["origins", "attribute", *given], catch_exceptions=False)


def test_of_a_corpus_that_cannot_be_read_nothing_is_left(run, tmp_path):
    (tmp_path / "empty.jsonl").touch()
    given = ["--test", str(run[0].parent / "words.yaml"), "--out", str(tmp_path / "found")]
    with pytest.raises(InputError, match="empty"):
        CliRunner().invoke(
            app, ["origins", "attribute", str(tmp_path / "empty.jsonl"), *given], catch_exceptions=False
        )
    assert not (tmp_path / "found").exists()
