"""Classifiers of the user's answer as their own libraries do, whatever else is in the batch."""

import json
import shutil
import sys

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from biaslab.core.errors import InputError
from biaslab.fairness_testing.text.adapters import adapt, load_model
from biaslab.text.words import Texts, split_words
from naive.recurrent import slopes
from own_fairness_texts_data import MODULE, TORCH_MODULE, lexicon, sentences
from refusals import refused

LEXICON = lexicon()
TEXTS = LEXICON.encode(map(split_words, sentences()))


@pytest.fixture
def modules(tmp_path, monkeypatch):
    """The user's modules, in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("my_texts", "my_torch"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    (tmp_path / "my_texts.py").write_text(MODULE)
    (tmp_path / "my_torch.py").write_text(TORCH_MODULE)
    return tmp_path


def torch_model(name):
    pytest.importorskip("torch")
    return load_model(f"my_torch:{name}", LEXICON)


@pytest.fixture(scope="module")
def bert_folder(tmp_path_factory):
    """Return the folder of a tiny BERT that has some words whole, some in pieces and some not at all."""
    for name in ("torch", "tokenizers", "safetensors"):
        pytest.importorskip(name)
    from text_data import tiny_classifier

    whole = [word for word in LEXICON.words if word not in ("bakers", "sailors", "melody")]
    return tiny_classifier(tmp_path_factory.mktemp("models") / "bert", [*whole, "baker", "sailor", "##s"])


@pytest.fixture(scope="module")
def bert(bert_folder):
    return load_model(str(bert_folder), LEXICON)


@pytest.fixture
def bert_copy(bert_folder, tmp_path):
    """Return a copy of the folder, to write there."""
    return shutil.copytree(bert_folder, tmp_path / "bert")


def numeric_gradients(probabilities, vectors):
    """Return the gradient of the cross entropy of label 1 by the vectors of one text, by differences."""
    return np.reshape(slopes(lambda: -np.log(probabilities(vectors)[1]), vectors, 1e-5), vectors.shape)


def assert_texts_are_apart(model):
    """The answers for a text are the same, up to rounding, alone and in any order."""
    labels = np.arange(len(TEXTS)) % 2
    together, gradients = model.probabilities(TEXTS), model.gradients(TEXTS, labels)
    assert gradients.shape == (len(TEXTS.ids), model.vectors.shape[1])
    np.testing.assert_allclose(together.sum(axis=1), 1)
    assert np.ptp(together[:, 0]) > 0.01
    order = np.random.default_rng(0).permutation(len(TEXTS))
    shuffled = TEXTS.take(order)
    np.testing.assert_allclose(model.probabilities(shuffled), together[order], atol=1e-6)
    expected = np.concatenate([gradients[TEXTS.offsets[i] : TEXTS.offsets[i + 1]] for i in order])
    np.testing.assert_allclose(model.gradients(shuffled, labels[order]), expected, atol=1e-6)
    for i in (0, 3):
        own = gradients[TEXTS.offsets[i] : TEXTS.offsets[i + 1]]
        np.testing.assert_allclose(model.probabilities(TEXTS.take([i]))[0], together[i], atol=1e-6)
        np.testing.assert_allclose(model.gradients(TEXTS.take([i]), labels[[i]]), own, atol=1e-6)


@pytest.mark.parametrize("name", ["bag", "recurrent"])
def test_a_torch_module_reads_texts_apart(modules, name):
    assert_texts_are_apart(torch_model(name))


def test_a_torch_module_answers_as_by_hand(modules):
    torch = pytest.importorskip("torch")
    model = torch_model("bag")
    import my_torch

    row = TEXTS.row(2)
    vectors = LEXICON.vectors[row].astype(np.float64)
    module = my_torch.Bag().double()

    def by_hand(moved):
        inputs = torch.tensor(moved)[None]
        return softmax(module(inputs, torch.ones(1, len(row), dtype=torch.bool)).detach().numpy()[0])

    one = TEXTS.take([2])
    assert not model._module.training
    np.testing.assert_allclose(model.probabilities(one)[0], by_hand(vectors), rtol=1e-5)
    gradients = numeric_gradients(by_hand, vectors)
    assert abs(gradients).max() > 0.1
    np.testing.assert_allclose(model.gradients(one, np.array([1])), gradients, atol=1e-5)


@pytest.mark.parametrize("name", ["bag", "recurrent"])
def test_texts_without_words_and_no_texts(modules, name):
    model = torch_model(name)
    assert np.isfinite(model.probabilities(Texts.of([[], [1, 2]]))).all()
    assert model.gradients(Texts.of([[], [1, 2]]), np.array([0, 1])).shape == (2, 6)
    assert model.probabilities(Texts.of([])).shape == (0, 2)
    assert model.gradients(Texts.of([]), np.empty(0, np.int64)).shape == (0, 6)


def test_an_object_answers_for_lists_of_words(modules):
    model = load_model("my_texts:careful", LEXICON)
    p, labels = model.probabilities(TEXTS), np.arange(len(TEXTS)) % 2
    held = ["cyclists" in sentence for sentence in sentences()]
    assert set(np.flatnonzero(p[:, 1] > 0.5)) <= set(np.flatnonzero(held))
    assert p[:, 1].max() == pytest.approx(0.8)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    signs = np.repeat(1 - 2 * labels, TEXTS.lengths)
    np.testing.assert_allclose(model.gradients(TEXTS, labels), 0.1 * signs[:, None] * np.ones(6))


def assert_twins(one, other):
    labels = np.arange(len(TEXTS)) % 2
    np.testing.assert_allclose(one.probabilities(TEXTS), other.probabilities(TEXTS), atol=1e-15)
    np.testing.assert_allclose(one.gradients(TEXTS, labels), other.gradients(TEXTS, labels), atol=1e-15)


@pytest.mark.parametrize(
    ("name", "twin"),
    [
        ("my_texts:complaint_last", "my_texts:careful"),
        ("my_texts:complaint_first", "my_texts:careful"),
        ("my_torch:turned", "my_torch:bag"),
    ],
)
def test_classes_in_either_order_are_answered_alike(modules, name, twin):
    if name.startswith("my_torch"):
        pytest.importorskip("torch")
    assert_twins(load_model(name, LEXICON, positive="complaint"), load_model(twin, LEXICON))


@pytest.mark.parametrize("other", ["fine", "a praise"])  # complaint is the first class, and the second
def test_a_pipeline_of_scikit_learn_is_asked_about_texts(other):
    said = [" ".join(split_words(sentence)) for sentence in sentences()]
    labels = ["complaint" if "cyclists" in text else other for text in said]
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression()).fit(said, labels)
    model = adapt(pipeline, LEXICON, "pipeline", "complaint")
    column = list(pipeline.classes_).index("complaint")
    np.testing.assert_array_equal(model.probabilities(TEXTS)[:, 1], pipeline.predict_proba(said)[:, column])
    with pytest.raises(InputError, match="has no gradients"):
        model.gradients(TEXTS, np.zeros(len(TEXTS), int))


def test_a_bert_with_its_labels_in_the_other_order_answers_alike(bert, bert_copy):
    from safetensors.torch import load_file, save_file

    tensors = load_file(bert_copy / "model.safetensors")
    turned = {k: v.flip(0).contiguous() if k.startswith("classifier.") else v for k, v in tensors.items()}
    save_file(turned, bert_copy / "model.safetensors", {"format": "pt"})
    write_labels(bert_copy, {"id2label": {"0": "complaint", "1": "fine"}})
    assert_twins(load_model(str(bert_copy), LEXICON, positive="complaint"), bert)


def write_labels(folder, labels):
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | labels))


@pytest.mark.parametrize(
    ("labels", "training", "positive", "message"),
    [
        (["complaint", "fine"], None, "mean", "complaint and fine; none is 'mean': name the positive one"),
        (["a", "b", "c"], None, None, r"id2label of config\.json names a, b, c; a classifier of two labels"),
        ([], {"removed": ["baker"]}, None, "with words removed from all texts"),
        ([], [], None, "does not list the word pieces"),
    ],
)
def test_a_bert_of_other_labels_or_words_is_refused(bert_copy, labels, training, positive, message):
    if labels:
        write_labels(bert_copy, {"id2label": {str(i): label for i, label in enumerate(labels)}})
    (bert_copy / "training.json").write_text(json.dumps({"removed": []} if training is None else training))
    with pytest.raises(InputError, match=message):
        load_model(str(bert_copy), LEXICON, positive=positive)


def test_a_function_is_asked_in_small_batches(monkeypatch):
    asked = []

    def function(texts):
        asked.append(len(texts))
        return [len(words) / 100 for words in texts]

    monkeypatch.setattr("biaslab.fairness_testing.text.adapters.BATCH_TEXTS", 10)
    p = adapt(function, LEXICON, "function").probabilities(TEXTS)
    assert asked == [10, 10, 6]
    np.testing.assert_allclose(p[:, 1], TEXTS.lengths / 100)


def test_a_bert_reads_texts_apart(bert):
    assert_texts_are_apart(bert)


@pytest.mark.slow
def test_a_bert_answers_as_its_tokenizer_and_library_do(bert, bert_folder):
    transformers = pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    reference = transformers.BertForSequenceClassification.from_pretrained(bert_folder).eval().double()
    tokenizer = transformers.BertTokenizer(str(bert_folder / "vocab.txt"), do_lower_case=True)
    i = 5
    ids = torch.tensor(tokenizer([sentences()[i]])["input_ids"])
    vectors = reference.get_input_embeddings()(ids).detach().numpy()[0]

    def by_hand(moved):
        logits = reference(inputs_embeds=torch.tensor(moved)[None]).logits
        return softmax(logits.detach().numpy()[0])

    one = TEXTS.take([i])
    np.testing.assert_allclose(bert.probabilities(one)[0], by_hand(vectors), rtol=1e-4)
    # "cyclists" is one piece here and "bakers" two, which move together
    pieces = tokenizer.tokenize(sentences()[i])
    words = np.cumsum([not piece.startswith("##") for piece in pieces]) - 1
    of_pieces = numeric_gradients(by_hand, vectors)[1:-1]
    of_words = np.array([of_pieces[words == word].sum(axis=0) for word in range(words[-1] + 1)])
    assert abs(of_words).max() > 1e-3
    np.testing.assert_allclose(bert.gradients(one, np.array([1])), of_words, atol=1e-5)


def test_the_vector_of_a_word_is_the_mean_of_its_pieces(bert):
    text = sentences().index("we met the bakers with a cake")
    tokens = bert._tokens(TEXTS.take([text]))
    assert tokens.words.tolist() == [-1, 0, 1, 2, 3, 3, 4, 5, 6, -1]
    table = bert._model.bert.embeddings.word_embeddings.weight.detach().numpy()
    bakers, melody = (bert.vectors[LEXICON.ids[word]] for word in ("bakers", "melody"))
    np.testing.assert_allclose(bakers, table[tokens.ids[4:6]].mean(axis=0), rtol=1e-6)
    np.testing.assert_array_equal(melody, table[bert._pieces.row(LEXICON.ids["melody"])[0]])


def test_what_a_bert_does_not_read_has_no_gradient(bert):
    long = Texts.of([np.resize(TEXTS.row(0), 200), TEXTS.row(1)])
    gradients = bert.gradients(long, np.array([0, 1]))
    tokens = bert._tokens(long)
    assert tokens.lengths.tolist()[0] == 128
    n_read = len(np.unique(tokens.words[1:127]))
    is_read = abs(gradients).max(axis=1) > 0
    assert is_read.tolist() == [i < n_read or i >= 200 for i in range(len(is_read))]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("my_texts:nan", "returned nan, nan for the text 1: not finite"),
        ("my_texts:three", "returned 3 classes; give a classifier with two classes"),
        ("my_texts:fails", r"failed on 26 texts \(RuntimeError: no memory\)"),
        ("my_texts:complaint_first", "has the classes complaint, fine; name the positive one of two"),
        ("my_texts:number", "type int is not a classifier of texts"),
        ("my_texts:plain", "has no gradients"),
        ("my_texts:narrow", "gradients of 3 numbers a word, but the vectors have 6"),
        ("my_texts:short", "gradients of other lengths than the texts"),
        ("nothing", "nothing: no such folder; name a network"),
        ("my_torch:nan", "returned logits that are not finite"),
        ("my_torch:three", "returned 3 classes"),
        ("my_torch:constant", "the logits have no gradients by the vectors of words"),
        ("my_torch:wide", r"failed on vectors of 6 numbers, \(1, 3, 6\).*RuntimeError"),
    ],
)
def test_a_classifier_that_answers_wrongly_is_refused(modules, name, message):
    if name.startswith("my_torch"):
        pytest.importorskip("torch")
    with refused(message):
        ask(load_model(name, LEXICON))


def ask(model):
    model.probabilities(TEXTS)
    model.gradients(TEXTS, np.zeros(len(TEXTS), np.int64))
