r"""Comprehensiveness and sufficiency of explanations (ERASER, DeYoung et al. 2020).

Let p(x) be the probability of the class that the classifier predicts for x, and r the words to which an
explanation gives most importance *toward that class*: highest φ when it is the positive one, lowest when it
is the negative one (signed, not absolute: ERASER's rationales are those for the predicted class). Then::

    comprehensiveness = p(x) - p(x \ r)    high: without these words the classifier loses its reason
    sufficiency       = p(x) - p(r)        low: these words alone are reason enough

Words are taken away as by OC: [PAD] that is not attended to, the positions of the others stay. Both are
averaged over r of several sizes, shares of the words of a sentence rounded up (ERASER's area over the
perturbation curve). Rankings at random are the null: an explanation that says nothing does no better.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from scipy.special import expit

from biaslab.core.errors import InputError
from biaslab.core.rng import stream
from biaslab.hate_speech.explanations import MAX_TOKENS, word_spans
from biaslab.text.encoder import batches_by_length, evaluating
from biaslab.text.packing import score
from biaslab.text.tokens import Tokens

SHARES = (0.1, 0.2, 0.5)
"""Parts of the words of a sentence that are taken away, or kept."""


def faithfulness(
    model: torch.nn.Module,
    tokens: Tokens,
    attributions: pd.DataFrame,
    pad: int,
    *,
    shares: Sequence[float] = SHARES,
    n_random: int = 5,
    seed: int = 1,
    max_tokens: int = MAX_TOKENS,
) -> pd.DataFrame:
    """Measure the comprehensiveness and sufficiency, in [-1, 1], of attributions by `explain_words`."""
    if not shares or not all(0 < share <= 1 for share in shares):
        raise InputError(f"shares: {list(shares)}: give parts of the words, each above 0 and 1 at most")
    if n_random < 1:
        raise InputError(f"n_random: {n_random} is too few; compare with one random ranking at least")
    rows, phi = _by_sentence(tokens, attributions)
    classifier = _Classifier(model, *tokens.padded(rows, pad), pad, max_tokens)
    sentences = np.arange(len(rows))
    whole = classifier.scores(sentences, classifier.mask)
    sign = np.where(whole > 0, 1, -1)
    rankings = [
        _rankings(phi[i] * sign[i], stream(seed, "faithfulness", int(row)), n_random)
        for i, row in enumerate(rows)
    ]
    attended = [
        classifier.mask[i] & ~_taken(tokens, int(row), rankings[i], shares, classifier.mask.shape[1])
        for i, row in enumerate(rows)
    ]
    n_variants = (1 + n_random) * len(shares) * 2
    scores = classifier.scores(
        np.repeat(sentences, n_variants), np.concatenate([classifier.mask[:0], *attended])
    ).reshape(len(rows), 1 + n_random, len(shares), 2)
    falls = expit(np.abs(whole))[:, None, None, None] - expit(sign[:, None, None, None] * scores)
    means = falls.mean(axis=2)  # over the shares: (n, rankings, {without, only})
    measured, null = means[:, 0], means[:, 1:].mean(axis=1)
    return pd.DataFrame(
        {
            "row": rows,
            "n_words": np.array([len(values) for values in phi], np.int64),
            "comprehensiveness": measured[:, 0],
            "comprehensiveness_random": null[:, 0],
            "sufficiency": measured[:, 1],
            "sufficiency_random": null[:, 1],
        }
    )


def _by_sentence(tokens: Tokens, attributions: pd.DataFrame) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return the sentences that are explained, and φ of their words from left to right."""
    table = attributions.sort_values(["row", "position"], kind="stable")
    rows, begins = np.unique(table["row"].to_numpy(np.int64), return_index=True)
    phi = np.split(table["phi"].to_numpy(np.float64), begins[1:]) if len(rows) else []
    for row, values in zip(rows.tolist(), phi, strict=True):
        n_words = len(word_spans(tokens, row))
        if len(values) != n_words:
            raise InputError(f"sentence {row}: {len(values)} attributions for {n_words} words; give each one")
    return rows, phi


def _rankings(toward: np.ndarray, random: np.random.Generator, n_random: int) -> np.ndarray:
    """Return the words in (1 + n_random, n_words) orders: highest first, and random ones."""
    orders = [random.permutation(len(toward)) for _ in range(n_random)]
    return np.stack([np.argsort(-toward, kind="stable"), *orders])


def _taken(
    tokens: Tokens, row: int, rankings: np.ndarray, shares: Sequence[float], length: int
) -> np.ndarray:
    """Return which tokens are taken away, (rankings x shares x {top words, all other words}, length) bool."""
    words = word_spans(tokens, row)
    position = np.arange(length)
    in_word = (position >= words.start[:, None]) & (position < words.end[:, None])  # (n_words, length)
    rank = np.argsort(rankings, axis=1)[:, None]  # of each word, (rankings, 1, n_words)
    n_top = np.ceil(np.asarray(shares) * len(words))
    is_top = rank < n_top[:, None]
    taken = np.stack([is_top, ~is_top], axis=2).reshape(-1, len(words))
    return taken @ in_word  # whether any word that is taken away has the token


@dataclass(frozen=True)
class _Classifier:
    """Scores sentences of which some tokens are not attended to."""

    model: torch.nn.Module
    ids: np.ndarray
    mask: np.ndarray
    pad: int
    max_tokens: int

    def scores(self, sentences: np.ndarray, attended: np.ndarray) -> np.ndarray:
        """Return s of each row of `attended`, (rows, L) bool, in the sentence of that number, float64."""
        scores = np.empty(len(sentences))
        device = next(self.model.parameters()).device
        with evaluating(self.model), torch.no_grad():
            for batch in batches_by_length(self.mask.sum(axis=1)[sentences], self.max_tokens):
                rows = sentences[batch]
                length = self.mask[rows].sum(axis=1).max()
                visible = attended[batch, :length]
                shown = np.where(visible, self.ids[rows, :length], self.pad)
                found = score(self.model, *(torch.as_tensor(a, device=device) for a in (shown, visible)))
                scores[batch] = found.double().cpu().numpy()
        return scores
