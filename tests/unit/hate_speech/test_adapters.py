"""Any classifier of texts: what it may return, and what is said when it returns something else."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.special import logit

from biaslab.hate_speech import adapters
from biaslab.hate_speech.adapters import CallableClassifier, load_classifier_of, load_folder
from own_texts_data import GROUPS, WORDS
from refusals import refused
from text_data import tiny_classifier

TEXTS = ["the bakers sang a song", "we met the cyclists today .", "a cake"]
MODULE = """
import numpy as np

def shares(texts):
    return [min(len(text), 40) / 41 for text in texts]

def late(texts):
    raise SystemExit(7)

class Pipeline:
    classes_ = np.array([0, 1])

    def predict_proba(self, texts):
        p = np.array(shares(texts))
        return np.column_stack([1 - p, p])

pipeline, number = Pipeline(), 3
"""


def classifier(answer):
    return CallableClassifier(lambda texts: answer, "mine:answer", ["0", "1"])


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_texts", raising=False)
    Path("my_texts.py").write_text(MODULE)
    return "my_texts"


# --- functions


@pytest.mark.parametrize(
    ("answer", "logits"),
    [
        (np.array([0.25, 0.5, 0.9], np.float32), logit([0.25, 0.5, 0.9])),
        ([[0.75, 0.25], [0.5, 0.5], [0.1, 0.9]], logit([0.25, 0.5, 0.9])),
        ([0, 1, True], [-np.inf, np.inf, np.inf]),
        ([[1, 0], [0, 1], [0, 1]], [-np.inf, np.inf, np.inf]),
        ([[1e-30, 1.0], [1.0, 1e-30], [0.5, 0.5]], [-np.log(1e-30), np.log(1e-30), 0]),
    ],
)
def test_probabilities_of_one_class_or_both_become_exact_logits(answer, logits):
    scores = classifier(answer).scores(TEXTS)
    np.testing.assert_allclose(scores, logits, rtol=1e-6)
    assert scores.dtype == np.float64


def test_tensors_are_numbers():
    torch = pytest.importorskip("torch")
    answer = torch.tensor([0.2, 0.3, 0.4], requires_grad=True)
    np.testing.assert_allclose(classifier(answer).scores(TEXTS), logit([0.2, 0.3, 0.4]), rtol=1e-6)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([0.1, 0.2], r"returned the shape \(2,\) for 3 texts; return the probability of the positive class"),
        ([[0.1, 0.9], [0.2, 0.8]], r"returned the shape \(2, 2\) for 3 texts"),
        (np.full((3, 3), 1 / 3), r"returned 3 classes; return the probability of the positive class, \(3,\)"),
    ],
)
def test_answers_that_are_no_probabilities_are_refused(answer, message):
    with refused(f"^mine:answer {message}"):
        classifier(answer).scores(TEXTS)


def test_texts_are_asked_in_batches_and_counted_through(monkeypatch):
    monkeypatch.setattr(adapters, "BATCH", 2)
    asked, told = [], []

    def function(texts):
        asked.append(texts)
        return [len(text) / 100 for text in texts]

    mine = CallableClassifier(function, "mine")
    scores = mine.scores(TEXTS, lambda done, n: told.append((done, n)))
    assert asked == [TEXTS[:2], TEXTS[2:]]
    assert told == [(2, 3), (3, 3)]
    np.testing.assert_allclose(scores, logit([len(text) / 100 for text in TEXTS]))
    wrong = CallableClassifier(lambda texts: [np.nan if text == TEXTS[2] else 0 for text in texts], "wrong")
    with refused("for text 3: not finite"):
        wrong.scores(TEXTS)


def test_a_function_or_an_object_of_a_module(module):
    expected = logit([len(text) / 41 for text in TEXTS])
    for name in ("shares", "pipeline"):
        np.testing.assert_allclose(load_classifier_of(f"{module}:{name}").scores(TEXTS), expected)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("my_texts:number", "my_texts:number: a int is not a classifier"),
        ("nowhere", "nowhere: no such folder; name the folder of a classifier of transformers"),
        ("my_texts:", "no such folder"),
        ("my_texts:late", r"my_texts:late failed on 3 texts \(SystemExit: 7\)"),
    ],
)
def test_what_is_no_classifier_is_refused(module, reference, message):
    with refused(message):
        load_classifier_of(reference).scores(TEXTS)


@pytest.mark.parametrize(
    ("classes", "positive", "columns"),
    [
        (["hate", "ok"], "hate", [1, 0]),
        (["abuse", "fine"], "fine", [0, 1]),
        ([0, 1], None, [0, 1]),
        ([1, 0], None, [1, 0]),
        ([0.0, 1.0], "1", [0, 1]),
        ([False, True], None, [0, 1]),
        ([0, 1], "hate", [0, 1]),
    ],
)
def test_columns_follow_the_order_of_the_classes(module, classes, positive, columns):
    """A model whose classes are in the other order gives the same answers as its twin."""
    import my_texts

    both = my_texts.Pipeline().predict_proba(TEXTS)

    class Twin:
        classes_ = np.array(classes)

        def predict_proba(self, texts):
            return both[:, np.argsort(columns)]

    my_texts.twin = Twin()
    my_texts.method = Twin().predict_proba
    expected = load_classifier_of(f"{module}:pipeline").scores(TEXTS)
    for name in ("twin", "method"):
        found = load_classifier_of(f"{module}:{name}", positive=positive).scores(TEXTS)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("classes", "positive", "message"),
    [
        (None, "hate", "two columns and has no classes_ that names the columns"),
        (["hate", "ok"], None, "has the classes hate, ok; name the positive one of two with --positive"),
        (["hate", "ok"], "bad", "has the classes hate, ok; none is 'bad'"),
        (["a", "b", "c"], "a", "has the classes a, b, c"),
        (["a", "a"], "a", "classes_ is not a list of distinct labels"),
    ],
)
def test_an_order_that_nobody_says_is_asked_for(module, classes, positive, message):
    import my_texts

    my_texts.pipeline.classes_ = classes
    with refused(message):
        load_classifier_of(f"{module}:pipeline", positive=positive).scores(TEXTS)


def test_functions_need_no_torch(module):
    code = (
        "import sys\n"
        "from biaslab.hate_speech.adapters import load_classifier_of\n"
        "load_classifier_of('my_texts:shares').scores(['bread'])\n"
        "sys.exit(sorted({'torch', 'transformers', 'tokenizers'} & set(sys.modules)) or 0)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


# --- folders


@pytest.fixture
def folder(tmp_path):
    pytest.importorskip("transformers")
    return tiny_classifier(tmp_path / "tiny", WORDS)


def test_words_that_a_classifier_was_trained_without_are_removed(folder):
    plain = load_folder(folder, "cpu").scores(TEXTS)
    (folder / "training.json").write_text(json.dumps({"removed": list(GROUPS)}))
    removed = load_folder(folder, "cpu").scores(TEXTS)
    (folder / "training.json").unlink()
    without = [" ".join(w for w in text.split() if w not in GROUPS) for text in TEXTS]
    np.testing.assert_array_equal(removed, load_folder(folder, "cpu").scores(without))
    assert np.isclose(plain, removed, rtol=1e-5).tolist() == [False, False, True]  # padded to other lengths


@pytest.mark.parametrize("content", ["{", "{}", '{"removed": ["nowhere"]}', '{"removed": 3}'])
def test_a_training_file_that_is_wrong_is_refused(folder, content):
    (folder / "training.json").write_text(content)
    with refused(r"training.json: does not list the word pieces that are removed"):
        load_folder(folder, "cpu")


@pytest.mark.parametrize(
    ("files", "limit"),
    [
        ({}, 300),
        ({"tokenizer_config.json": {"model_max_length": 200}}, 200),
        ({"tokenizer_config.json": {"model_max_length": 10**30}}, 300),
        ({"training.json": {"removed": []}}, 128),
    ],
)
def test_a_folder_reads_as_much_as_its_own_files_say(tmp_path, files, limit):
    """Scores are those of transformers for as many word pieces, and how many texts are cut is stated."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    folder = tiny_classifier(tmp_path, WORDS, positions=300)
    model = transformers.BertForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.BertTokenizerFast(str(folder / "vocab.txt"))
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    texts = ["bread music walk " * 150, "a cake"]
    mine = load_classifier_of(str(folder), "cpu")
    with torch.no_grad():
        read = [tokenizer(t, return_tensors="pt", truncation=True, max_length=limit) for t in texts]
        logits = [model(**tokens).logits[0] for tokens in read]
    np.testing.assert_allclose(mine.scores(texts), [float(z[1] - z[0]) for z in logits], atol=1e-4)
    assert f"reads {limit} word pieces of a text at most, in lower case" in mine.reading
    assert (mine.lengths(texts).tokens > mine.max_length).tolist() == [True, False]
    assert mine.lengths(texts).sentence().startswith(f"1 of 2 texts are longer than the {limit} word pieces")
    assert mine.lengths(["a cake"]).sentence() == "The text is read to the end."


def test_names_of_which_none_is_said_to_be_positive_stop(folder):
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"id2label": {"0": "hate", "1": "ok"}}))
    with refused("its labels are hate and ok; name the positive one with --positive"):
        load_classifier_of(str(folder), "cpu")
    with refused("none is '1': name the positive one with --positive-class"):
        load_classifier_of(str(folder), "cpu", "1", "--positive-class")
