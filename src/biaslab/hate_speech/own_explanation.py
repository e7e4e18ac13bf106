"""Compute hierarchical explanations of sentences for any classifier."""

from collections.abc import Callable, Sequence

import numpy as np

from biaslab.core.errors import InputError
from biaslab.hate_speech.adapters import FolderClassifier, TextClassifier
from biaslab.hate_speech.contexts import ContextSettings
from biaslab.hate_speech.explanations import Explainer, word_spans
from biaslab.hate_speech.hierarchy import Explained, Span, agglomerate
from biaslab.text.encoder import predict
from biaslab.text.language_model import BiGRU
from biaslab.text.reading import Lengths
from biaslab.text.variants import MAX_WORDS, Variants, without, words_of

_SURE = 13.8155  # the logit of a probability of 1 - 1e-6


def explain_by_leaving_out(
    classifier: TextClassifier,
    sentences: Sequence[str],
    progress: Callable[[int, int], None] = lambda done, n: None,
) -> list[Explained]:
    """Explain sentences for any classifier: φ of a phrase is the fall of the score if it is left out.

    Scores are clipped to the logits of 1e-6 and 1 - 1e-6, because some classifiers return 0 or 1.
    """

    def scores(texts: Sequence[str]) -> np.ndarray:
        return np.clip(classifier.scores(texts), -_SURE, _SURE)

    explanations = []
    lengths = classifier.lengths(sentences)
    for number, sentence in enumerate(sentences, 1):
        all_words = words_of(sentence)
        words = all_words[:MAX_WORDS]
        (own,) = scores([sentence])

        def phi(
            phrases: Sequence[Span], text: str = sentence, words: list[Span] = words, own: float = own
        ) -> np.ndarray:
            return own - scores(Variants(phrases, lambda phrase: without(text, words, *phrase)))

        if not words:
            raise InputError(f"sentence {number} has no word; write another")
        word_texts = [sentence[start:end] for start, end in words]
        unread = lengths.tokens[number - 1] - lengths.limit if lengths else 0
        limits = _limits(unread, lengths, len(all_words))
        explanations.append(Explained(word_texts, agglomerate(phi, len(words)), float(own), limits))
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
    """Return messages on the unread part of a sentence and on words that are not explained."""
    limits = []
    if lengths and n_unread > 0:
        limits.append(
            f"The classifier reads {lengths.limit:,} {lengths.unit} of the sentence: the last {n_unread:,}"
            " are not read."
        )
    if n_words > MAX_WORDS:
        limits.append(f"The first {MAX_WORDS} of {n_words:,} words are explained.")
    return tuple(limits)
