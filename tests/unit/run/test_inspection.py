"""Inputs that are read before a run: what is wrong in a file is told with its key."""

from pathlib import Path

import pytest

from biaslab.core.errors import InputError
from biaslab.run.area import load_area
from biaslab.run.config import REGISTRY, load
from biaslab.run.datasets import load_registry
from biaslab.run.inspection import AtHand, inspect
from text_data import texts_of

ROOT = Path(__file__).parents[3]
EXAMPLE = "workflow/resources/hate_speech/example"
TERMS = "workflow/resources/fairness_testing/terms_example.yaml"


def check(area, **section):
    texts = {"corpora": texts_of(section.get("text", section))}
    config = load({"areas": [area], area: section} | texts, ROOT)
    inspect(config, [load_area(area)], AtHand(load_registry(ROOT / REGISTRY), ROOT))


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def hate_speech(**keys):
    pytest.importorskip("tokenizers")
    own = {"source": f"{EXAMPLE}.csv", "identifiers": "terms.txt", "news": None} | keys
    encoder = {part: f"{EXAMPLE}-encoder/{file}" for part, file in (("vocabulary", "vocab.txt"),)}
    check("hate_speech", run=["mine"], otherwise=[], transfer=[], corpora={"mine": own}, encoder=encoder)


def test_the_example_passes():
    Path("terms.txt").write_text("actors\nsailors\n")
    hate_speech(news=f"{EXAMPLE}_news.jsonl")


def test_an_identifier_of_several_pieces_is_told_before_a_run():
    Path("terms.txt").write_text("actors\nzithers\n")
    expected = r"^hate_speech.corpora.mine.identifiers: .*'zithers' is \d+ WordPieces .*pieces: longest"
    with pytest.raises(InputError, match=expected):
        hate_speech()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("text,class\na,1\n", "label"),
        ("text,label\na,1\nb,0\nc,2\n", "2"),
        ("text,label\na,1\nb,0\n", "example"),
    ],
)
def test_a_table_without_a_column_with_a_third_label_or_too_few_texts(text, problem):
    Path("terms.txt").write_text("actors\n")
    Path("mine.csv").write_text(text)
    with pytest.raises(InputError, match=rf"^corpora.mine.source: .*mine.csv.*{problem}"):
        hate_speech(source="mine.csv")


def test_a_feature_that_the_terms_lack_is_told_before_a_run():
    text = {"run": ["mine"], "otherwise": []}
    text["corpora"] = {"mine": {"source": f"{EXAMPLE}.csv", "terms": TERMS, "features": ["rank"]}}
    expected = r"^fairness_testing.text.corpora.mine.terms: .*has no feature 'rank'"
    with pytest.raises(InputError, match=expected):
        check("fairness_testing", run=["german"], otherwise=[], text=text)


def test_a_wrong_word_list_is_told_before_a_run():
    Path("list.yaml").write_text("title: A list\n")
    with pytest.raises(InputError, match=r"^debiasing.occupations: list.yaml"):
        check("debiasing", occupations="list.yaml")
