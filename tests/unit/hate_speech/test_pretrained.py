"""Classifiers of transformers of any architecture: tiny random ones, made here; what is refused."""

import json
import shutil

import numpy as np
import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

import tokenizers  # noqa: E402
from scipy.special import expit  # noqa: E402

from biaslab.core.errors import InputError  # noqa: E402
from biaslab.hate_speech.adapters import FolderClassifier, is_plain_bert, load_classifier_of  # noqa: E402

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
COMMON = ["the", "bakers", "cyclists", "sang", "broke", "a", "lamp", "song", "The", "Bakers", "."]
WORDS = [*SPECIAL, *COMMON]
TEXTS = ["The cyclists broke a lamp .", "song", "the bakers sang a song . " * 40, "", "a"]
SIZE = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
BASE = {"vocab_size": len(WORDS), "pad_token_id": 0, "initializer_range": 0.3}
KINDS = {
    "roberta": {**SIZE, "max_position_embeddings": 66},
    "distilbert": {"dim": 16, "n_layers": 2, "n_heads": 2, "hidden_dim": 24},
    "modernbert": {**SIZE, "cls_token_id": 2, "sep_token_id": 3, "bos_token_id": 2, "eos_token_id": 3},
    "electra": {**SIZE, "embedding_size": 16},
    "bert": SIZE,
}


def save(folder, kind, **changes):
    """Save a classifier with random weights and a tokenizer of words, as transformers does."""
    words = tokenizers.Tokenizer(tokenizers.models.WordLevel({w: i for i, w in enumerate(WORDS)}, "[UNK]"))
    words.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    words.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    special = {"unk": "[UNK]", "pad": "[PAD]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=words, **{f"{k}_token": v for k, v in special.items()}, model_max_length=64
    )
    config = transformers.AutoConfig.for_model(kind, **BASE | KINDS[kind] | changes)
    torch.manual_seed(3)
    model = transformers.AutoModelForSequenceClassification.from_config(config)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return model.eval(), tokenizer


def logits(model, tokenizer, text):
    """The answer to one text by itself, without padding."""
    read = tokenizer(text or " ", truncation=True, max_length=64, return_tensors="pt")
    read = {key: read[key] for key in ("input_ids", "attention_mask")}
    with torch.no_grad():
        return model(**read).logits[0].double().numpy()


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_the_model_text_by_text(tmp_path, kind):
    model, tokenizer = save(tmp_path, kind)
    found = load_classifier_of(str(tmp_path), "cpu")
    assert not is_plain_bert(tmp_path)
    expected = [np.subtract(*logits(model, tokenizer, text)[::-1]) for text in TEXTS]
    scores = found.scores(TEXTS)
    np.testing.assert_allclose(scores, expected, atol=1e-4)
    assert scores.std() > 0.01
    assert (found.scores(TEXTS) == scores).all()


def test_a_positive_label_of_several_is_named(tmp_path):
    names = {0: "calm", 1: "rude", 2: "unclear"}
    model, tokenizer = save(tmp_path, "roberta", id2label=names, label2id={v: k for k, v in names.items()})
    with pytest.raises(InputError, match="its labels are calm, rude, unclear; name the positive one"):
        load_classifier_of(str(tmp_path), "cpu")
    p = torch.softmax(torch.tensor(logits(model, tokenizer, TEXTS[0])), 0)
    (score,) = load_classifier_of(str(tmp_path), "cpu", "rude").scores(TEXTS[:1])
    assert expit(score) == pytest.approx(p[1].item(), abs=1e-5)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"problem_type": "multi_label_classification"}))
    (score,) = load_classifier_of(str(tmp_path), "cpu", "rude").scores(TEXTS[:1])
    assert score == pytest.approx(logits(model, tokenizer, TEXTS[0])[1], abs=1e-5)


def headless(folder):
    config = transformers.AutoConfig.from_pretrained(folder)
    torch.manual_seed(3)
    transformers.AutoModel.from_config(config).save_pretrained(folder)


def with_code(folder):
    (folder / "own.py").write_text("open('was_run', 'w').close()\nraise SystemExit\n")
    config = json.loads((folder / "config.json").read_text()) | {"model_type": "own"}
    config["auto_map"] = {"AutoConfig": "own.Config", "AutoModelForSequenceClassification": "own.Model"}
    (folder / "config.json").write_text(json.dumps(config))


WEIGHTS = "model.safetensors"
UNREADABLE = "transformers cannot read it as a classifier of sequences"


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (
            lambda m: (m / WEIGHTS).rename(m / "pytorch_model.bin"),
            "pytorch_model.bin is pickled, and pickled files are not",
        ),
        (lambda m: (m / "tokenizer.json").unlink(), "has no tokenizer; save it next to the model"),
        (headless, "its weights lack classifier"),
        (with_code, UNREADABLE),
        (lambda m: (m / WEIGHTS).write_bytes((m / WEIGHTS).read_bytes()[:-50]), UNREADABLE),
        (lambda m: (m / "tokenizer.json").write_text("{"), UNREADABLE),
    ],
)
def test_what_cannot_be_read_safely_is_refused_in_one_line(tmp_path, monkeypatch, spoil, problem):
    save(tmp_path / "m", "distilbert")
    monkeypatch.chdir(tmp_path)
    spoil(tmp_path / "m")
    with pytest.raises(InputError, match=problem) as refused:
        load_classifier_of(str(tmp_path / "m"), "cpu")
    assert str(refused.value).count("\n") == 0
    assert not (tmp_path / "was_run").exists()


def test_an_uncased_bert_of_two_labels_is_read_strictly(tmp_path):
    save(tmp_path, "bert", vocab_size=len(WORDS) - 2)
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS[:-3] + WORDS[-1:]) + "\n")
    assert is_plain_bert(tmp_path)
    assert isinstance(load_classifier_of(str(tmp_path), "cpu"), FolderClassifier)
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"do_lower_case": False}))
    assert not is_plain_bert(tmp_path)  # it keeps capitals
    (tmp_path / "tokenizer_config.json").unlink()
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    assert not is_plain_bert(tmp_path)  # it has capitals
    shutil.rmtree(tmp_path)
    assert is_plain_bert(tmp_path)  # and refused as one
