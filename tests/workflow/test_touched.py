"""What is made again after a change of an input or of code: the steps that read it; of mere times none."""

import re
from pathlib import Path

import pytest

from elsewhere import Elsewhere

RUN = ("run", "--configfile", "mine.yaml", "--cores", 2)
COUNTED = "results/origins/mine/cooccurrence.npz"
LOOK = (*RUN, "-n", COUNTED)
MINE = """
areas: [origins]
origins:
  run: [mine]
  setups:
    mine:
      corpus: {source: articles.jsonl, format: jsonl, unit: article, min_length: 5}
"""


pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder in which a corpus of more than a megabyte, Snakemake's own limit, is read and counted."""
    found = Elsewhere(tmp_path_factory.mktemp("touched"))
    (found.checkout / "profiles").symlink_to("workflow/profiles")
    (found.folder / "mine.yaml").write_text(MINE, encoding="utf-8")
    article = '{"id": "a%d", "title": "t", "text": "' + "the river ran along its old bed again " * 30 + '"}\n'
    (found.folder / "articles.jsonl").write_text("".join(article % i for i in range(1200)), encoding="utf-8")
    assert (found.folder / "articles.jsonl").stat().st_size > 1_200_000
    found.biaslab(*RUN, COUNTED)
    return found


def planned(said: str) -> set[str]:
    assert "Nothing to be done" in said or "total" in said
    return set(re.findall(r"^(\w+) +\d+$", said, flags=re.M)) - {"total"}


def touch(*files: Path) -> None:
    """Write the same content again, so that every file is newer than all results."""
    for file in files:
        content = file.read_bytes()
        file.unlink()
        file.write_bytes(content)


def planned_by_snakemake(snakemake, place: Elsewhere) -> set[str]:
    """Return the rules that Snakemake would run by itself, without `biaslab run`."""
    environment = {"PYTHONPATH": str(place.checkout / "src")}
    options = ("--configfile", "mine.yaml", "--dry-run", COUNTED)
    done = snakemake(place.folder, *options, snakefile=place.checkout / "Snakefile", **environment)
    assert done.returncode == 0, done.stderr
    return planned(done.stdout + done.stderr)


def test_inputs_and_code_with_new_times_make_nothing_again(snakemake, place):
    folders = (place.checkout / name for name in ("src", "workflow"))
    sources = [
        file for folder in folders for file in folder.rglob("*") if file.is_file() and not file.is_symlink()
    ]
    touch(place.folder / "articles.jsonl", place.folder / "mine.yaml", *sources)
    assert planned(place.biaslab(*LOOK)) == set()
    assert planned_by_snakemake(snakemake, place) == set()


def test_another_word_in_the_corpus_makes_all_again(snakemake, place):
    file = place.folder / "articles.jsonl"
    file.write_text(file.read_text(encoding="utf-8").replace("river", "brook", 1), encoding="utf-8")
    assert planned_by_snakemake(snakemake, place) == {"read_corpus", "count_cooccurrences"}
