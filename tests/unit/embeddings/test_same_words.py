"""A vocabulary whose words stand in another order fits no file, though its counts do."""

import numpy as np
import pytest
from typer.testing import CliRunner

from biaslab.cli import app
from biaslab.core.errors import InputError
from biaslab.core.io import read_npz, write_npz
from biaslab.embeddings.vocabulary import WORDS, Vocabulary, digest_words

TEXT = "bread cake milk wine beer tea ale rum bread cake milk wine"
COMMANDS = {
    "counting": "embeddings count-cooccurrences corpus.npz --vocabulary {} --window 2 --out other.npz",
    "bias": "origins measure-baseline batch.npz --vocabulary {} --weat w.yaml --seed 1 --out other.tsv",
    "sets": "origins measure-sets batch.npz --vocabulary {} --weat w.yaml --out other.tsv",
    "attribution": "origins differential-bias batch.npz --cooccurrence x.npz --corpus corpus.npz"
    " --documents documents.parquet --vocabulary {} --weat w.yaml --out other.parquet",
    "export": "embeddings export batch.npz --vocabulary {} --replicate 0 --format glove --out other.txt",
    "debiasing": "debiasing analogies batch.npz --vocabulary {} --pair bread:cake --out other.tsv",
}


def run(command, code=0):
    result = CliRunner().invoke(app, command.split())
    assert isinstance(result.exception, InputError if code else type(None)), result.output
    return str(result.exception)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Files of a small corpus, and two vocabularies of it: the one it was read with, and a swapped one."""
    folder = tmp_path_factory.mktemp("corpus")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        rows = [f'{{"id": "{i}", "text": "{TEXT}"}}\n' for i in range(4)]
        (folder / "texts.jsonl").write_text("".join(rows))
        to = "--corpus corpus.npz --documents documents.parquet --vocabulary vocabulary.tsv"
        run(f"embeddings read-corpus texts.jsonl --format jsonl --min-length 2 --min-count 2 {to}")
        run("embeddings count-cooccurrences corpus.npz --vocabulary vocabulary.tsv --window 2 --out x.npz")
        train = "embeddings train-glove --cooccurrence x.npz --dimension 3 --epochs 1 --seed 1 --set baseline"
        run(f"{train} --out batch.npz")
        text = (folder / "vocabulary.tsv").read_text()
        assert "bread\t8\ncake\t8\n" in text
        (folder / "swapped.tsv").write_text(text.replace("bread\t8\ncake\t8\n", "cake\t8\nbread\t8\n"))
        sets = "targets: {s: [bread, ale], t: [wine, rum]}\nattributes: {a: [cake, tea], b: [milk, beer]}\n"
        (folder / "w.yaml").write_text(f"name: w\ntitle: t\nsource: s\n{sets}")
        yield folder


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_swapped_words_are_refused(corpus, command):
    problem = run(command.format("swapped.tsv"), code=2)
    assert "made with other words, or words in another order, than swapped.tsv; name two files" in problem
    assert problem.split(":")[0] in ("corpus.npz", "x.npz", "batch.npz")
    assert not list(corpus.glob("other.*"))


def test_a_corpus_of_other_words_than_the_counts_is_refused(corpus):
    arrays = read_npz("corpus.npz")
    write_npz("another.npz", **arrays | {WORDS: np.array(digest_words(["another", "word"]))})
    problem = run(
        "embeddings train-glove --cooccurrence x.npz --corpus another.npz --sets sets.parquet --set s"
        " --dimension 3 --epochs 1 --seed 1 --out batch-1.npz",
        code=2,
    )
    assert problem.startswith("another.npz: made with other words, or words in another order, than x.npz;")


def test_the_digest_is_of_words_in_order_in_any_unicode_form():
    assert digest_words(["a", "b"]) != digest_words(["b", "a"])
    assert digest_words(["ab"]) != digest_words(["a", "b"])
    assert digest_words(["caf\u00e9"]) == digest_words(["cafe\u0301"])
    known = "23adae33514484f69e40fb1f64b2c447cb37b5c3eb38fd3af34ab2675159623a"
    assert Vocabulary(["bread", "cake"], np.ones(2)).digest == known
