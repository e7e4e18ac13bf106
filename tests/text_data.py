"""A tiny BERT with a vocabulary of its own, in a folder as published encoders come."""

import json
import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from biaslab.run.data.datasets import load_registry

SPECIAL = ("[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
PUNCTUATION = (".", ",", "!", "?", "'")
POSITIONS = 128
TEXTS = ("format", "source", "validation", "test", "positive")


def registered(name: str) -> Path:
    """Return the path of a registered dataset; skip the test where the mirror does not have it."""
    root = Path(__file__).parents[1]
    filename = load_registry(root / "workflow/resources/datasets.tsv")[name].filename
    mirror = Path(os.environ.get("BIASLAB_MIRROR", root / "../shared/data"))
    path = next(
        (mirror / f"{filename}{end}" for end in ("", ".gz") if (mirror / f"{filename}{end}").is_file()), None
    )
    return path or pytest.skip(f"needs {name} in a mirror folder (BIASLAB_MIRROR)")


def texts_of(section: dict) -> dict:
    """Take the texts of corpora out of a section that describes them whole; return the key ``corpora``."""
    corpora = section.get("corpora", {})
    return {name: {key: own.pop(key) for key in TEXTS if key in own} for name, own in corpora.items()}


def tiny_vocabulary(folder: Path, words: Iterable[str]) -> Path:
    """Write `vocab.txt`: special tokens, punctuation, then `words` (pieces inside words as ``##s``)."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "vocab.txt"
    path.write_text("\n".join(dict.fromkeys((*SPECIAL, *PUNCTUATION, *words))) + "\n", encoding="utf-8")
    return path


def tiny_classifier(
    folder: Path,
    words: Iterable[str],
    layers: int = 2,
    width: int = 16,
    seed: int = 1,
    positions: int = POSITIONS,
) -> Path:
    """Write a complete encoder folder of a random BERT with a classification head; return the folder.

    Weights are ten times as large as BERT's initial ones, so that scores depend on every token.
    """
    from safetensors.numpy import save_file

    n_tokens = len(tiny_vocabulary(folder, words).read_text(encoding="utf-8").splitlines())
    config = {
        "architectures": ["BertForSequenceClassification"],
        "model_type": "bert",
        "vocab_size": n_tokens,
        "hidden_size": width,
        "num_hidden_layers": layers,
        "num_attention_heads": 2,
        "intermediate_size": 2 * width,
        "hidden_act": "gelu",
        "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1,
        "max_position_embeddings": positions,
        "type_vocab_size": 2,
        "initializer_range": 0.02,
        "layer_norm_eps": 1e-12,
        "pad_token_id": 0,
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    rng = np.random.default_rng(seed)
    weights = {
        name: np.ones(shape, np.float32)
        if name.endswith("LayerNorm.weight")
        else rng.normal(0, 0.2, shape).astype(np.float32)
        for name, shape in tiny_shapes(n_tokens, layers, width, positions).items()
    }
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def tiny_shapes(n_tokens: int, layers: int, width: int, positions: int) -> dict[str, tuple[int, ...]]:
    """Return the shape of every tensor of the tiny classifier, by the names that published files use."""
    shapes = {
        "bert.embeddings.word_embeddings.weight": (n_tokens, width),
        "bert.embeddings.position_embeddings.weight": (positions, width),
        "bert.embeddings.token_type_embeddings.weight": (2, width),
        **_norm("bert.embeddings.LayerNorm", width),
        **_linear("bert.pooler.dense", width, width),
        **_linear("classifier", width, 2),
    }
    for i in range(layers):
        layer = f"bert.encoder.layer.{i}"
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            shapes |= _linear(f"{layer}.attention.{part}", width, width)
        shapes |= _norm(f"{layer}.attention.output.LayerNorm", width)
        shapes |= _linear(f"{layer}.intermediate.dense", width, 2 * width)
        shapes |= _linear(f"{layer}.output.dense", 2 * width, width)
        shapes |= _norm(f"{layer}.output.LayerNorm", width)
    return shapes


def _linear(name: str, n_in: int, n_out: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (n_out, n_in), f"{name}.bias": (n_out,)}


def _norm(name: str, width: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (width,), f"{name}.bias": (width,)}
