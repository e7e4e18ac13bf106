"""Measures of similarity between an original text and a found text (Section 5.2, RQ2)."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from biaslab.fairness_testing.text.corpus import Prepared
from biaslab.fairness_testing.text.finds import number_texts
from biaslab.text import similarity
from biaslab.text.corpora import TRAIN, VALIDATION
from biaslab.text.words import Lexicon, Texts, concatenate

LANGUAGE_MODEL_EPOCHS = 1
LANGUAGE_MODEL_WIDTH = 64
LANGUAGE_MODEL_TEXTS = 1500
"""The largest number of training texts of the language model, which only has to rank texts."""
MAX_PIECES = 128


@dataclass(frozen=True)
class Yardsticks:
    """The lexicon and models for measuring similarity."""

    lexicon: Lexicon
    sentences: Any = None  # a `sentence_vectors.SentenceEncoder` or None
    language_model: Any = None  # a `language_model.BiGRU`, trained on the corpus, or None

    @classmethod
    def load(
        cls, prepared: Prepared, encoder: Mapping[str, Path | None], seed: int, threads: int
    ) -> "Yardsticks":
        """Return the available measures: without config and vocabulary, only measures without an encoder."""
        if not encoder.get("config") or not encoder.get("vocabulary"):
            return cls(prepared.lexicon)
        from biaslab.text.devices import make_deterministic
        from biaslab.text.encoder import EncoderFiles, load_classifier, prepare_encoder
        from biaslab.text.sentence_vectors import SentenceEncoder
        from biaslab.text.tokens import Tokenizer

        make_deterministic(threads)
        files = EncoderFiles(encoder["config"], encoder["vocabulary"], encoder.get("weights"))
        with tempfile.TemporaryDirectory() as folder:
            prepare_encoder(files, folder, None, "pretrained" if files.weights else "random", seed)
            tokenizer = Tokenizer.load(Path(folder) / "vocab.txt")
            sentences = SentenceEncoder(load_classifier(folder, seed), tokenizer)
        return cls(prepared.lexicon, sentences, _train_language_model(prepared, sentences.tokenizer, seed))

    def measure_words(self, original: Texts, changed: Texts) -> dict[str, float]:
        """Return the means over n >= 1 pairs of the measures without an encoder: l0, l2, jaccard, bleu."""
        return {
            "l0": float(similarity.changed_words(original, changed).mean()),
            "l2": float(similarity.vector_distance(original, changed, self.lexicon.vectors).mean()),
            "jaccard": float(similarity.jaccard(original, changed).mean()),
            "bleu": float(similarity.bleu(original, changed).mean()),
        }

    def measure_sentences(self, pairs: Sequence[tuple[Texts, Texts]]) -> list[dict[str, float]]:
        """Return the means of the measures with an encoder, for each set of original and changed texts.

        similarity, perplexity of the changed and seed_perplexity of the original texts (the exponential of
        the mean over texts of the mean negative log-likelihood of a word piece); empty without an encoder.
        Every text is read once.
        """
        if self.sentences is None or not pairs:
            return [{} for _ in pairs]
        from biaslab.text.language_model import negative_log_likelihood
        from biaslab.text.sentence_vectors import similarity as cosines

        all_texts = concatenate([texts for pair in pairs for texts in pair])
        first = number_texts(all_texts)
        unique, place = np.unique(first, return_inverse=True)
        sentences = [" ".join(self.lexicon.decode(row)) for row in all_texts.take(unique)]
        vectors = self.sentences.vectors(sentences)[place]
        tokens = self.sentences.tokenizer.encode(sentences, MAX_PIECES)
        nll = negative_log_likelihood(self.language_model, tokens)[place]
        means, begin = [], 0
        for original, _ in pairs:
            n = len(original)
            seeds, changed = slice(begin, begin + n), slice(begin + n, begin + 2 * n)
            similar = cosines(vectors[seeds], vectors[changed]).mean()
            perplexities = (np.exp(nll[rows].mean()) for rows in (changed, seeds))
            names = ("similarity", "perplexity", "seed_perplexity")
            means.append(dict(zip(names, map(float, (similar, *perplexities)), strict=True)))
            begin += 2 * n
        return means


def _train_language_model(prepared: Prepared, tokenizer: Any, seed: int) -> Any:
    """Train the language model on texts of the corpus, as words joined by blanks, like the measured texts."""
    from biaslab.text.language_model import LanguageModelSettings, train_language_model

    def tokens(part: str, limit: int) -> Any:
        texts = prepared.parts[part].texts
        kept = np.flatnonzero(texts.lengths > 0)[:limit]
        sentences = [" ".join(prepared.lexicon.decode(texts.row(i))) for i in kept]
        return tokenizer.encode(sentences, MAX_PIECES)

    settings = LanguageModelSettings(
        epochs=LANGUAGE_MODEL_EPOCHS,
        learning_rate=2e-3,
        width=LANGUAGE_MODEL_WIDTH,
    )
    train, validation = tokens(TRAIN, LANGUAGE_MODEL_TEXTS), tokens(VALIDATION, LANGUAGE_MODEL_TEXTS)
    return train_language_model(train, validation, tokenizer, settings, seed)[0]
