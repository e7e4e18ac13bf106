import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from safetensors.torch import load_file, save_file

from biaslab.core.errors import InputError
from biaslab.text import encoder
from biaslab.text.encoder import EncoderFiles, load_classifier, predict, prepare_encoder, save_classifier
from biaslab.text.tokens import Tokenizer, Tokens
from naive.text import score
from text_data import POSITIONS, tiny_classifier

WORDS = ["the", "a", "baker", "gardener", "bakes", "plants", "bread", "roses", "early", "##s"]
TEXTS = ["The baker bakes bread.", "early", "A gardener plants roses, roses, roses!", "", "the gardeners"]
WEIGHTS = "model.safetensors"


@pytest.fixture
def folder(tmp_path) -> Path:
    return tiny_classifier(tmp_path / "encoder", WORDS)


@pytest.fixture
def tokenizer(folder) -> Tokenizer:
    return Tokenizer.load(folder / "vocab.txt")


@pytest.fixture
def tokens(tokenizer) -> Tokens:
    return tokenizer.encode(TEXTS)


def matrices(tokens: Tokens, rows) -> tuple[torch.Tensor, torch.Tensor]:
    ids, mask = tokens.padded(rows, 0)
    return torch.from_numpy(ids), torch.from_numpy(mask)


def change_weights(folder: Path, change) -> None:
    tensors = load_file(folder / WEIGHTS)
    change(tensors)
    save_file(tensors, folder / WEIGHTS)


def change_config(folder: Path, **keys: object) -> None:
    config = json.loads((folder / "config.json").read_text()) | keys
    (folder / "config.json").write_text(json.dumps(config))


def without_head(folder: Path) -> Path:
    """Take away what a mere encoder lacks, and the prefix of its names."""
    tensors = load_file(folder / WEIGHTS)
    kept = {
        k.removeprefix("bert."): v for k, v in tensors.items() if "pooler" not in k and "classifier" not in k
    }
    # saved by earlier releases of transformers
    kept["embeddings.position_ids"] = torch.arange(POSITIONS)[None]
    save_file(kept, folder / WEIGHTS)
    return folder


# Loading


def test_scores_are_what_transformers_computes(folder, tokens):
    from transformers import BertForSequenceClassification

    ids, mask = matrices(tokens, range(5))
    model = BertForSequenceClassification.from_pretrained(folder, attn_implementation="eager").eval()
    hidden = mask.clone()
    hidden[2, 3:5] = False  # within the sentence: the others keep their positions
    for seen in (mask, hidden):
        logits = model(input_ids=ids, attention_mask=seen.long()).logits
        found = score(load_classifier(folder), ids, seen)
        assert torch.allclose(found, logits[:, 1] - logits[:, 0], atol=1e-6)
        assert found.std() > 0.01


def test_an_encoder_without_prefix_pooler_and_head_gets_those_of_its_seed(folder):
    complete = load_classifier(folder)
    without_head(folder)
    state = torch.get_rng_state()
    first, same, other = (load_classifier(folder, seed) for seed in (1, 1, 2))
    assert torch.equal(state, torch.get_rng_state())
    query = "bert.encoder.layer.1.attention.self.query.weight"
    assert torch.equal(first.state_dict()[query], complete.state_dict()[query])
    for name in ("classifier.weight", "bert.pooler.dense.weight"):
        a, b, c = (model.state_dict()[name] for model in (first, same, other))
        assert torch.equal(a, b)
        assert not torch.equal(a, c)
        assert a.std() == pytest.approx(0.02, rel=0.25)
    assert not first.classifier.bias.any()
    with pytest.raises(InputError, match="is missing; train the classifier first"):
        load_classifier(folder)


def test_names_of_the_first_published_berts_are_read(folder, tokens):
    ids, mask = matrices(tokens, range(5))
    expected = score(load_classifier(folder), ids, mask)

    def rename(tensors):
        for name in [n for n in tensors if "LayerNorm" in n]:
            old = name.replace("weight", "gamma").replace("bias", "beta")
            tensors[old] = tensors.pop(name)
        tensors["cls.predictions.bias"] = torch.zeros(4)  # a head of another task

    change_weights(folder, rename)
    assert torch.equal(score(load_classifier(folder), ids, mask), expected)


def test_half_precision_is_read_as_single(folder):
    change_weights(folder, lambda tensors: tensors.update({k: v.half() for k, v in tensors.items()}))
    model = load_classifier(folder)
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert all(p.requires_grad for p in model.parameters())


def test_weights_do_not_follow_their_file(folder):
    model = load_classifier(folder)
    before = model.classifier.weight.clone()
    path = folder / WEIGHTS
    with path.open("r+b") as file:
        file.seek(path.stat().st_size // 2)
        file.write(b"\0" * (path.stat().st_size // 2))
    assert torch.equal(model.classifier.weight, before)


def test_a_saved_classifier_is_read_by_us_and_by_transformers(folder, tokenizer, tokens, tmp_path):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = load_classifier(folder)
    with torch.no_grad():
        model.classifier.weight.mul_(2)
    for name in ("saved", "again"):
        save_classifier(model, tmp_path / name, folder / "vocab.txt")
    saved = tmp_path / "saved"
    assert sorted(p.name for p in saved.iterdir()) == ["config.json", WEIGHTS, "vocab.txt"]
    assert all(p.read_bytes() == (tmp_path / "again" / p.name).read_bytes() for p in saved.iterdir())
    ids, mask = matrices(tokens, range(5))
    expected = score(model, ids, mask)
    assert torch.equal(score(load_classifier(saved), ids, mask), expected)
    theirs = AutoModelForSequenceClassification.from_pretrained(saved).eval()
    logits = theirs(input_ids=ids, attention_mask=mask.long()).logits
    assert torch.allclose(logits[:, 1] - logits[:, 0], expected, atol=1e-6)
    encoded = AutoTokenizer.from_pretrained(saved)(TEXTS)["input_ids"]
    assert encoded == [tokens.row(i).tolist() for i in range(5)]


# Preparing


def test_the_first_layers_are_kept(folder, tmp_path):
    prepare_encoder(EncoderFiles.of_folder(folder), tmp_path / "cut", layers=1)
    whole, cut = load_classifier(folder).state_dict(), load_classifier(tmp_path / "cut").state_dict()
    assert set(whole) - set(cut) == {name for name in whole if ".layer.1." in name}
    assert all(torch.equal(cut[name], whole[name]) for name in cut)
    assert (tmp_path / "cut/vocab.txt").read_bytes() == (folder / "vocab.txt").read_bytes()


def test_random_weights_are_those_of_the_seed_and_need_no_file(folder, tmp_path):
    (folder / WEIGHTS).unlink()
    files = EncoderFiles.of_folder(folder)
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        prepare_encoder(files, tmp_path / name, layers=1, weights="random", seed=seed)
    a, b, c = ((tmp_path / name / WEIGHTS).read_bytes() for name in "abc")
    assert a == b != c
    state = load_classifier(tmp_path / "a", 1).state_dict()
    assert not state["bert.embeddings.word_embeddings.weight"][0].any()
    for name, tensor in state.items():
        if name.endswith("LayerNorm.weight"):
            assert (tensor == 1).all()
        elif name.endswith("bias"):
            assert not tensor.any()
        else:
            assert tensor.std() == pytest.approx(0.02, rel=0.3), name


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"layers": 3}, "layers: 3: .*config.json has 2; write a number from 1 to 2"),
        ({"layers": 0}, "layers: 0: "),
        ({"weights": "pickled"}, "weights 'pickled' are unknown; write pretrained or random"),
    ],
)
def test_what_cannot_be_prepared_is_refused(folder, tmp_path, arguments, problem):
    with pytest.raises(InputError, match=problem):
        prepare_encoder(EncoderFiles.of_folder(folder), tmp_path / "cut", **arguments)
    assert not (tmp_path / "cut").exists()


# Scores


def test_predictions_are_in_the_order_of_the_texts(folder, tokens, tokenizer, monkeypatch):
    model = load_classifier(folder)
    expected = [score(model, *matrices(tokens, [i])).item() for i in range(5)]
    done = []
    for batch_tokens in (1, 12, 4096):
        monkeypatch.setattr(encoder, "BATCH_TOKENS", batch_tokens)
        scores = predict(model, tokens, 0, lambda *step: done.append(step))
        assert scores.dtype == np.float32
        assert scores == pytest.approx(expected, abs=1e-6)
    assert len(set(expected)) == 5
    assert done[:5] == [(i, 5) for i in range(1, 6)]
    assert done[-1] == (5, 5)
    assert predict(model, tokens.take([]), 0).shape == (0,)
    long = tokenizer.encode(["the baker " * 200], max_length=POSITIONS + 1)
    with pytest.raises(InputError, match=r"^a text has 129 tokens, the encoder reads 128; shorten"):
        predict(model, long, 0)


def test_predicting_knows_no_dropout_and_leaves_the_mode_of_the_model(folder, tokens):
    model = load_classifier(folder)
    expected = predict(model, tokens, 0)
    model.train()
    assert np.array_equal(predict(model, tokens, 0), expected)
    assert model.training
    ids, mask = matrices(tokens, range(5))
    torch.manual_seed(1)
    assert not np.allclose(score(model, ids, mask).detach(), expected, atol=1e-3)


def test_keys_without_a_value_are_berts(folder, tmp_path):
    change_config(folder, pad_token_id=None, classifier_dropout=None, layer_norm_eps=1)
    prepare_encoder(EncoderFiles.of_folder(folder), tmp_path / "random", weights="random")
    embedding = load_classifier(tmp_path / "random", 1).bert.embeddings.word_embeddings
    assert embedding.padding_idx == 0
    assert embedding.weight[1:].any(1).all()


# Refusals


def assert_refused(folder: Path, problem: str, seed: int | None = 1) -> None:
    with pytest.raises(InputError, match=problem) as error:
        load_classifier(folder, seed)
    assert "\n" not in str(error.value)
    assert str(folder) in str(error.value)


def test_what_is_absent_is_refused(folder):
    assert_refused(folder / "absent", "no such folder; name the folder of a BERT")
    for name in (WEIGHTS, "vocab.txt", "config.json"):
        (folder / name).unlink()
        assert_refused(folder, f"{name} is missing; name the folder of a BERT")


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"model_type": "roberta"}, r"config\.json: model_type is 'roberta', not 'bert'"),
        ({"position_embedding_type": "relative_key"}, "relative positions"),
        ({"is_decoder": True}, "a decoder"),
        ({"hidden_size": "16"}, r'config\.json: hidden_size: "16" is not a whole number'),
        ({"hidden_size": None}, r"config\.json: the key 'hidden_size' is missing"),
        ({"num_hidden_layers": 0}, r"config\.json: num_hidden_layers: 0 is less than 1"),
        ({"classifier_dropout": 1.5}, r"config\.json: classifier_dropout: 1\.5 is more than 1"),
        ({"layer_norm_eps": "small"}, r'config\.json: layer_norm_eps: "small" is not a number'),
        ({"num_attention_heads": 3}, "not a multiple of the number of attention heads"),
        ({"hidden_act": "glue"}, r"config\.json: hidden_act: \"glue\" is not known; did you mean 'gelu'"),
        ({"pad_token_id": 21}, r"config\.json: pad_token_id is 21; write a line of vocab\.txt"),
        ({"vocab_size": 30522}, r"vocab\.txt: 21 tokens, but vocab_size in config\.json is 30522"),
        ({"hidden_size": 32}, r"model\.safetensors: .* of shape .*use files of one encoder"),
        ({"num_hidden_layers": 3}, r"encoder\.layer\.2\..* is missing; use weights and config\.json"),
        (
            {"num_hidden_layers": 1},
            r"the model has no parameter .*encoder\.layer\.1\..*; use weights and config\.json",
        ),
    ],
)
def test_a_configuration_that_does_not_fit_is_refused(folder, keys, problem):
    change_config(folder, **keys)
    assert_refused(folder, problem)


def three_labels(tensors):
    tensors["classifier.weight"] = torch.zeros(3, 16)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (
            lambda f: (f / WEIGHTS).rename(f / "pytorch_model.bin"),
            r"pytorch_model\.bin: pickled weights are not",
        ),
        (lambda f: (f / "config.json").write_text("{"), r"config\.json: not valid JSON"),
        (
            lambda f: change_weights(f, three_labels),
            r"classifier\.weight is torch\.float32 of shape \(3, 16\).*encoder of 2 labels",
        ),
        (
            lambda f: change_weights(f, lambda w: w.pop("bert.embeddings.LayerNorm.bias")),
            r"embeddings\.LayerNorm\.bias is missing",
        ),
    ],
)
def test_files_that_do_not_fit_are_refused(folder, change, problem):
    change(folder)
    assert_refused(folder, problem)
