"""A sentence encoder fine-tuned on a corpus: a network of another kind than those of the paper.

Its labels test what was found on the others. No search starts from it in the experiment, since a query of it
takes many times as long; ``biaslab fairness-testing audit-texts --model FOLDER`` searches any such
classifier.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.fairness_testing.text.corpus import Labelled
from biaslab.fairness_testing.text.encoder_model import EncoderTextModel
from biaslab.text import packing
from biaslab.text.bert import BertClassifier
from biaslab.text.compact import compact_embeddings
from biaslab.text.devices import step_seed
from biaslab.text.encoder import EncoderFiles, load_classifier, prepare_encoder
from biaslab.text.tokens import MAX_LENGTH, Tokenizer, Tokens
from biaslab.text.words import Lexicon

CLIP = 1.0
"""Largest norm of the gradient of all parameters together."""


@dataclass(frozen=True)
class EncoderSettings:
    """How an encoder is fine-tuned."""

    epochs: int  # passes over the training texts
    negative_weight: float = 1.0  # weight of a negative text in the loss, where a positive one has 1
    batch: int = 32  # texts of a step
    # AdamW's step size at the first step; it falls to 0 linearly. 50 times the usual one of whole
    # encoders, as the default of the area hate_speech: for one layer and few steps.
    learning_rate: float = 1e-3


def load_start(files: EncoderFiles, layers: int | None, seed: int) -> tuple[BertClassifier, Tokenizer]:
    """Return the first layers (None: all) of an encoder with a new classifier, and its tokenizer."""
    with tempfile.TemporaryDirectory() as folder:
        weights = "pretrained" if files.weights else "random"
        prepare_encoder(files, folder, layers, weights, seed)
        return load_classifier(folder, seed), Tokenizer.load(Path(folder) / "vocab.txt")


def train_encoder(
    model: BertClassifier,
    tokenizer: Tokenizer,
    lexicon: Lexicon,
    train: Labelled,
    settings: EncoderSettings,
    seed: int,
) -> EncoderTextModel:
    """Fine-tune an encoder on texts, their words joined by blanks.

    Words that no training text holds keep their embeddings. The seed orders the texts and draws dropout;
    equal seeds give equal weights on one type of machine with one number of threads.
    """
    sentences = [" ".join(lexicon.decode(row)) for row in train.texts]
    tokens = tokenizer.encode(sentences, min(MAX_LENGTH, model.config.max_position_embeddings))
    batches = [
        rows for epoch in range(settings.epochs) for rows in _batches(len(tokens), settings, seed, epoch)
    ]
    model.train()
    with compact_embeddings(model, np.unique([*tokens.ids, tokenizer.pad])):
        optimizer = torch.optim.AdamW(model.parameters(), fused=True)
        with torch.random.fork_rng(devices=[]):  # dropout draws from the numbers that all of torch shares
            for step, rows in enumerate(batches):
                torch.manual_seed(step_seed(seed, "dropout", step))
                rate = settings.learning_rate * (1 - step / len(batches))
                loss = _loss(model, tokens, rows, train.labels, tokenizer.pad, settings.negative_weight)
                _refuse_infinite(loss, step)
                _take_step(model, optimizer, loss, rate)
    return EncoderTextModel(model.eval(), tokenizer, lexicon)


def _take_step(
    model: BertClassifier, optimizer: torch.optim.Optimizer, loss: torch.Tensor, rate: float
) -> None:
    """Take one step of size `rate` against the gradient of the loss, which is clipped."""
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), CLIP)
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def _refuse_infinite(loss: torch.Tensor, step: int) -> None:
    if not torch.isfinite(loss):
        raise InputError(
            f"the encoder's loss is no finite number at step {step + 1}; check its weights, or set"
            " fairness_testing.text.encoder.epochs to 0"
        )


def _loss(
    model: BertClassifier,
    tokens: Tokens,
    rows: np.ndarray,
    labels: np.ndarray,
    pad: int,
    negative_weight: float,
) -> torch.Tensor:
    """Return the cross entropy of a batch, a mean weighted by label."""
    weight = torch.tensor([negative_weight, 1.0])
    logits = packing.logits(model, *tokens.padded(rows, pad))
    return nn.functional.cross_entropy(logits, torch.from_numpy(labels[rows]), weight)


def _batches(n: int, settings: EncoderSettings, seed: int, epoch: int) -> list[np.ndarray]:
    order = stream(seed, "encoder order", epoch).permutation(n)
    return [order[start : start + settings.batch] for start in range(0, n, settings.batch)]
