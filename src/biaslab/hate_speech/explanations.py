r"""Explain classifiers by occlusion, OC and SOC (Kennedy et al. 2020, Section 4.2; Jin et al. 2020).

The importance of a phrase p in a sentence x is the fall of the score s = logit₁ - logit₀ when p is occluded,
averaged over contexts (Eq. 1)::

    φ(p) = E over x_δ of [s(x) - s(x \ p)]

Occluded tokens are [PAD] *and* not attended to; the positions of the other tokens stay.

The authors' code scores one phrase at a time, in separate passes with and without the phrase. This module
scores all phrases x contexts x {with, without} of a batch in one forward pass, and equal rows only once.
Their code also keeps dropout on, with different masks in each pass, so that φ is noise for phrases without
effect. Here the caller switches dropout off (`biaslab.text.encoder.evaluating`).
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import torch

from biaslab.core.errors import InputError
from biaslab.hate_speech.adapters import FolderClassifier, TextClassifier
from biaslab.hate_speech.contexts import ContextSettings, Occurrences, fill_contexts
from biaslab.hate_speech.hierarchy import Explained, Span, agglomerate
from biaslab.hate_speech.metrics import holding
from biaslab.text import packing
from biaslab.text.devices import generator
from biaslab.text.encoder import batches_by_length, evaluating, predict
from biaslab.text.language_model import BiGRU
from biaslab.text.reading import Lengths
from biaslab.text.tokens import Tokenizer, Tokens
from biaslab.text.variants import MAX_WORDS, Variants, without, words_of

Score = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
"""Maps token ids (n, L) int64 and a mask (n, L) bool to scores s(x), (n,), differentiable."""

MAX_TOKENS = 16_384  # tokens of one forward pass of an explanation
_UNATTENDED = -1  # replaces a token's id where the mask is 0


def find_occurrences(ids: np.ndarray, identifier_ids: Collection[int]) -> Occurrences:
    """Return the regularized tokens, w in x ∩ S (Eq. 2), of ids, (n, L) int64, row by row."""
    row, start = np.nonzero(np.isin(ids, list(identifier_ids)))
    return Occurrences(row, start, start + 1)


def importance(
    score: Score,
    ids: torch.Tensor,
    mask: torch.Tensor,
    occurrences: Occurrences,
    filled: torch.Tensor,
    pad: int,
    share: bool = True,
) -> torch.Tensor:
    """Return φ of every phrase (Eq. 1), (k,), differentiable, by one forward pass for all phrases.

    `ids`, `mask` and the contexts `filled` are those of `fill_contexts`. With `share`, equal rows are scored
    once and share their dropout mask. Up to rounding, φ does not depend on padding or on the other phrases.
    """
    if not len(occurrences):
        return torch.zeros(0, device=ids.device)
    row, start, end = (
        torch.as_tensor(part, device=ids.device)
        for part in (occurrences.row, occurrences.start, occurrences.end)
    )
    present = mask[row]
    present = present[:, : int(present.sum(1).max())]
    position = torch.arange(present.shape[1], device=ids.device)
    occluded = (position >= start[:, None]) & (position < end[:, None])
    attended = torch.stack([present, present & ~occluded], dim=1)[:, :, None]  # (k, 2, 1, length)
    rows = torch.where(attended, filled[:, None, :, : len(position)], _UNATTENDED).flatten(0, 2)
    place = None
    if share:
        rows, place = torch.unique(rows, dim=0, return_inverse=True)
    is_attended = rows != _UNATTENDED
    scores = score(torch.where(is_attended, rows, pad), is_attended)
    scores = (scores if place is None else scores[place]).view(len(occurrences), 2, -1)
    falls = scores[:, 0] - scores[:, 1]
    first = falls[:, :1]  # so that the mean of equal numbers is exactly that number
    return first[:, 0] + (falls - first).mean(1)


def passes(filled: torch.Tensor, max_tokens: int) -> list[slice]:
    """Split phrases in contexts, (k, m, L), into parts of `max_tokens`, with at least one phrase each."""
    k, n_contexts, length = filled.shape
    size = max(1, max_tokens // (2 * n_contexts * length))
    return [slice(start, start + size) for start in range(0, k, size)]


def regularizer(phi: torch.Tensor, n_sentences: int, reduction: str = "mean") -> torch.Tensor:
    """Return Σ φ(w)² of Eq. 2 without α: the ``mean`` over all sentences, or the ``sum`` as published."""
    total = phi.square().sum()
    return total / n_sentences if reduction == "mean" else total


def word_spans(tokens: Tokens, row: int) -> Occurrences:
    """Return the words of a sentence, each with all its pieces, as phrases of row 0."""
    words = tokens.words[tokens.offsets[row] : tokens.offsets[row + 1]]
    inner = np.flatnonzero(words >= 0)
    is_first = np.diff(words[inner], prepend=-1) != 0
    start = inner[is_first].astype(np.int64)
    end = np.append(start[1:], inner[-1:] + 1)
    return Occurrences(np.zeros(len(start), np.int64), start, end)


@dataclass(frozen=True)
class Explainer:
    """Explain a classifier without dropout, in passes of at most `max_tokens`, unless one phrase has more.

    Equal seeds draw equal contexts for every model; a radius above 0 needs a language model.
    """

    model: torch.nn.Module
    tokenizer: Tokenizer
    settings: ContextSettings
    language_model: BiGRU | None = None
    seed: int = 1
    max_tokens: int = MAX_TOKENS

    def explain_words(self, tokens: Tokens, rows: Sequence[int]) -> pd.DataFrame:
        """Explain every word of the sentences `rows`: columns row, position in the sentence, word, phi."""
        rows = np.asarray(rows, np.int64)
        rows = rows[np.argsort(tokens.lengths[rows], kind="stable")]
        types = {"row": np.int64, "position": np.int64, "word": str, "phi": np.float64}
        parts = [pd.DataFrame(columns=list(types)).astype(types)]
        with evaluating(self.model), torch.no_grad():
            for begin, stop in _chunks(tokens.lengths[rows], 2 * self.settings.n_contexts, self.max_tokens):
                parts.append(self._explain_chunk(tokens, rows[begin:stop]))
        table = pd.concat(parts, ignore_index=True)
        return table.sort_values(["row", "position"], kind="stable", ignore_index=True)

    def phrase_importance(
        self, tokens: Tokens, row: int
    ) -> Callable[[Sequence[tuple[int, int]]], np.ndarray]:
        """Return the function that scores phrases for `agglomerate`; its calls share one random stream."""
        words = word_spans(tokens, row)
        ids, mask = self._read(tokens, np.array([row]))
        random = generator(self.seed, "explanation", row, device=ids.device)

        def phi(spans: Sequence[tuple[int, int]]) -> np.ndarray:
            first, last = np.array(spans, np.int64).reshape(-1, 2).T
            phrases = Occurrences(np.zeros(len(first), np.int64), words.start[first], words.end[last - 1])
            with evaluating(self.model), torch.no_grad():
                return self._phi(ids, mask, phrases, self._fill(ids, mask, phrases, random))

        return phi

    def identifier_importance(self, tokens: Tokens, ids: Mapping[str, int]) -> pd.DataFrame:
        """Return φ (Eq. 1) of every occurrence of an identifier: columns row (of text), identifier, phi."""
        rows = np.flatnonzero(holding(tokens, list(ids.values())).any(axis=1))
        names = {piece: name for name, piece in ids.items()}
        tables, n_contexts = [], self.settings.n_contexts
        with evaluating(self.model), torch.no_grad():
            batches = batches_by_length(tokens.lengths[rows], self.max_tokens // (2 * n_contexts))
            for number, indices in enumerate(batches):
                batch, mask = self._read(tokens, rows[indices])
                pieces = batch.cpu().numpy()
                phrases = find_occurrences(pieces, ids.values())
                random = generator(self.seed, "identifiers", number, device=batch.device)
                columns = {
                    "row": rows[indices][phrases.row],
                    "identifier": [names[piece] for piece in pieces[phrases.row, phrases.start].tolist()],
                    "phi": self._phi(batch, mask, phrases, self._fill(batch, mask, phrases, random)),
                }
                tables.append(pd.DataFrame(columns))
        if not tables:
            return pd.DataFrame({"row": [], "identifier": [], "phi": []})
        return pd.concat(tables, ignore_index=True).sort_values("row", kind="stable", ignore_index=True)

    def _read(self, tokens: Tokens, rows: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        device = next(self.model.parameters()).device
        ids, mask = tokens.padded(rows, self.tokenizer.pad)
        return torch.as_tensor(ids, device=device), torch.as_tensor(mask, device=device)

    def _fill(
        self, ids: torch.Tensor, mask: torch.Tensor, phrases: Occurrences, random: torch.Generator
    ) -> torch.Tensor:
        return fill_contexts(ids, mask, phrases, self.settings, self.language_model, self.tokenizer, random)

    def _phi(
        self, ids: torch.Tensor, mask: torch.Tensor, phrases: Occurrences, filled: torch.Tensor
    ) -> np.ndarray:
        score, pad = partial(packing.score, self.model), self.tokenizer.pad
        parts = [
            importance(score, ids, mask, phrases.part(part), filled[part], pad)
            for part in passes(filled, self.max_tokens)
        ]
        return torch.cat(parts).double().cpu().numpy() if parts else np.zeros(0)

    def _explain_chunk(self, tokens: Tokens, rows: np.ndarray) -> pd.DataFrame:
        """Explain the words of a chunk of sentences in one batch; draw the contexts sentence by sentence."""
        ids, mask = self._read(tokens, rows)
        words = [word_spans(tokens, row) for row in rows]
        streams = [generator(self.seed, "explanation", int(row), device=ids.device) for row in rows]
        filled = [self._fill(ids[[i]], mask[[i]], words[i], random) for i, random in enumerate(streams)]
        lengths = [len(spans) for spans in words]
        start, end = (np.concatenate([getattr(spans, name) for spans in words]) for name in ("start", "end"))
        phrases = Occurrences(np.repeat(np.arange(len(rows)), lengths), start, end)
        vocabulary, numbers = self.tokenizer.vocabulary, ids.cpu().numpy()
        texts = [
            "".join(vocabulary[i].removeprefix("##") for i in numbers[row, start:end])
            for row, start, end in zip(phrases.row, phrases.start, phrases.end, strict=True)
        ]
        return pd.DataFrame(
            {
                "row": rows[phrases.row],
                "position": tokens.words[tokens.offsets[rows][phrases.row] + phrases.start].astype(np.int64),
                "word": pd.Series(texts, dtype=str),
                "phi": self._phi(ids, mask, phrases, torch.cat(filled)),
            }
        )


def summarize(occurrences: pd.DataFrame, ids: Mapping[str, int]) -> pd.DataFrame:
    """Return the importance of each identifier: columns identifier, n (can be 0), mean_phi, mean_abs_phi."""
    phi = occurrences.groupby("identifier")["phi"]
    absolute = phi.agg(lambda values: float(values.abs().mean()))
    table = pd.DataFrame({"n": phi.size(), "mean_phi": phi.mean(), "mean_abs_phi": absolute})
    table = table.reindex(list(ids)).rename_axis("identifier").reset_index()
    return table.assign(n=table["n"].fillna(0).astype(np.int64))


def _chunks(lengths: np.ndarray, per_token: int, max_tokens: int) -> Iterator[tuple[int, int]]:
    """Yield [begin, stop) of consecutive sentences with at most `max_tokens` in total, at least one each."""
    begin, tokens = 0, 0
    for i, length in enumerate(lengths.tolist()):
        needed = per_token * length * length  # every word is a phrase
        if i > begin and tokens + needed > max_tokens:
            yield begin, i
            begin, tokens = i, 0
        tokens += needed
    if len(lengths):
        yield begin, len(lengths)


_SURE = 13.8155  # the logit of a probability of 1 - 1e-6; some classifiers return 0 or 1


def explain_by_leaving_out(
    classifier: TextClassifier,
    sentences: Sequence[str],
    progress: Callable[[int, int], None] = lambda done, n: None,
) -> list[Explained]:
    """Explain sentences for any classifier: φ of a phrase is the fall of the score if it is left out."""

    def scores(texts: Sequence[str]) -> np.ndarray:
        return np.clip(classifier.scores(texts), -_SURE, _SURE)

    def fall(text: str, words: list[Span], own: float, phrases: Sequence[Span]) -> np.ndarray:
        return own - scores(Variants(phrases, lambda phrase: without(text, words, *phrase)))

    explanations = []
    lengths = classifier.lengths(sentences)
    for number, sentence in enumerate(sentences, 1):
        all_words = words_of(sentence)
        words = all_words[:MAX_WORDS]
        if not words:
            raise InputError(f"sentence {number} has no word; write another")
        (own,) = scores([sentence])
        word_texts = [sentence[start:end] for start, end in words]
        unread = lengths.tokens[number - 1] - lengths.limit if lengths else 0
        limits = _limits(unread, lengths, len(all_words))
        levels = agglomerate(partial(fall, sentence, words, own), len(words))
        explanations.append(Explained(word_texts, levels, float(own), limits))
        progress(number, len(sentences))
    return explanations


def explain_sentences(
    classifier: FolderClassifier,
    sentences: Sequence[str],
    settings: ContextSettings,
    language_model: BiGRU | None,
    seed: int,
    progress: Callable[[int, int], None] = lambda done, n: None,
) -> list[Explained]:
    """Explain sentences by OC or SOC; a radius above 0 needs a language model."""
    tokenizer, model = classifier.tokenizer, classifier.model
    if language_model is not None and len(language_model.index) != len(tokenizer.vocabulary):
        raise InputError(
            f"the language model knows a vocabulary of {len(language_model.index)} tokens, the classifier's"
            f" has {len(tokenizer.vocabulary)}; train one for this classifier"
        )
    tokens = classifier.tokens(sentences)
    scores = predict(model, tokens, tokenizer.pad)
    lengths = classifier.lengths(sentences)
    explainer = Explainer(model, tokenizer, settings, language_model, seed)
    explanations = []
    for row, sentence in enumerate(sentences):
        places = word_spans(tokens, row).start
        if not len(places):
            raise InputError(f"sentence {row + 1} has no word that the classifier sees; write another")
        phi = explainer.phrase_importance(tokens, row)
        levels = agglomerate(phi, min(len(places), MAX_WORDS))
        words = tokenizer.words(sentence)
        kept = tokens.words[tokens.offsets[row] + places[:MAX_WORDS]]
        limits = _limits(lengths.tokens[row] - lengths.limit, lengths, len(places))
        explanations.append(Explained([words[i] for i in kept], levels, float(scores[row]), limits))
        progress(row + 1, len(sentences))
    return explanations


def _limits(n_unread: int, lengths: Lengths | None, n_words: int) -> tuple[str, ...]:
    limits = []
    if lengths and n_unread > 0:
        limits.append(
            f"The classifier reads {lengths.limit:,} {lengths.unit} of the sentence: the last {n_unread:,}"
            " are not read."
        )
    if n_words > MAX_WORDS:
        limits.append(f"The first {MAX_WORDS} of {n_words:,} words are explained.")
    return tuple(limits)
