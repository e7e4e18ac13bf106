"""``biaslab init``: a configuration that asks a person's own question, and is valid as it is written."""

import itertools
import json
import sys
from pathlib import Path

import pytest
import yaml

from biaslab.bias.word_sets import read_word_sets
from biaslab.cli import main
from biaslab.origins.grid import analyses
from biaslab.origins.starting import SIZES
from biaslab.run.config import load_files

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "workflow/resources"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def corpus(n_documents: int = 60, n_tokens: int = 12) -> str:
    text = "the river ran along " * (n_tokens // 4)
    lines = (json.dumps({"id": f"a{i}", "title": "t", "text": text}) for i in range(n_documents))
    Path("articles.jsonl").write_text("\n".join(lines))
    return "articles.jsonl"


def called(*arguments: object) -> int:
    """Call the command; return its exit code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["biaslab", "init", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
    return ended.value.code or 0


def init(capsys, *arguments: object) -> str:
    """Call the command and return what it says; it must end well."""
    code = called(*arguments)
    said = capsys.readouterr()
    assert not code, said.err
    return said.out


def configuration() -> dict:
    return load_files([Path("config.yaml")], ROOT)


def test_a_corpus_is_asked_about_at_its_size_and_nothing_else_is(capsys):
    said = init(capsys, "--corpus", corpus())
    assert "60 documents of 720 tokens" in said
    assert "write your own words into words.yaml" in said
    config = configuration()
    assert config["areas"] == ["origins"]
    setup = config["origins"]["setups"]["mine"]
    assert (setup["glove"]["dimension"], setup["glove"]["epochs"]) == SIZES[0][1:3]
    assert setup["corpus"]["min_length"] == 12
    assert setup["perturbations"]["sizes"] == setup["perturbations"]["random_sizes"] == [1, 2, 6]
    assert config["origins"]["weats"]["mine"] == "words.yaml"
    assert read_word_sets(Path("words.yaml")).name == "mine"
    assert analyses.summary("mine", setup).startswith("mine: 10 baselines, 6 targeted and 3 random sets")
    assert {"word2vec/word_sets.tsv", "ppmi/baseline.tsv", "analogies.tsv"} <= analyses.lacks(setup).keys()


def test_a_name_that_means_something_in_yaml_stays_a_name(capsys):
    named = Path(corpus()).rename("notes: all #2.jsonl")
    init(capsys, "--corpus", named)
    assert configuration()["origins"]["setups"]["mine"]["corpus"]["source"] == str(named)


def test_sizes_of_embeddings_rise_with_the_corpus():
    for smaller, larger in itertools.pairwise(SIZES):
        assert smaller.tokens < larger.tokens
        assert smaller.dimension < larger.dimension
        assert smaller.min_count <= larger.min_count


def test_an_own_test_is_taken_by_its_name_and_no_draft_is_written(capsys):
    init(capsys, "--corpus", corpus(), "--test", EXAMPLES / "word_sets/smoke.yaml")
    assert configuration()["origins"]["setups"]["mine"]["bias"]["weats"] == ["smoke"]
    assert not Path("words.yaml").exists()


def test_a_table_comes_with_a_draft_of_its_schema_and_texts_with_names_of_groups(capsys):
    table = EXAMPLES / "classifiers/example.csv"
    label = yaml.safe_load((table.with_suffix(".yaml")).read_text())["label"]["column"]
    init(capsys, "--table", table, "--label", label, "--texts", EXAMPLES / "hate_speech/example.csv")
    config = configuration()
    assert config["areas"] == ["fairness_testing", "hate_speech"]
    assert config["fairness_testing"]["text"]["run"] == []
    assert Path("columns.yaml").exists()
    assert Path("groups.yaml").exists()


def test_without_data_of_ones_own_they_are_comments_to_fill_in(capsys):
    init(capsys)
    assert set(yaml.safe_load(Path("config.yaml").read_text())) == {"seed", "areas"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--corpus", "nowhere.jsonl"], "no such file or folder: nowhere.jsonl"),
        (["--test", "words.yaml"], "--test belongs to --corpus"),
        (["--table", "table.csv"], "name the column that a classifier predicts"),
        (["--corpus", "few.txt"], "few.txt: 2 documents; write 10 or more"),
        (["--corpus", "table.csv"], "table.csv: no reader of a corpus reads .csv files"),
    ],
)
def test_what_cannot_be_asked_is_one_line_and_writes_nothing(capsys, arguments, said):
    Path("table.csv").write_text("a,b\n1,2\n")
    Path("few.txt").write_text("one\ntwo\n")
    assert called(*arguments) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1
    assert not Path("config.yaml").exists()


def test_a_file_of_ones_own_is_not_overwritten(capsys):
    Path("words.yaml").write_text("mine\n")
    assert called("--corpus", corpus()) == 2
    assert Path("words.yaml").read_text() == "mine\n"
    assert not Path("config.yaml").exists()
