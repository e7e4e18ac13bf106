"""Hierarchical explanations of the user's own sentences by a classifier of hers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from biaslab.core.errors import InputError
from biaslab.hate_speech.adapters import FolderClassifier
from biaslab.hate_speech.contexts import ContextSettings
from biaslab.hate_speech.explanations import phrase_importance, word_spans
from biaslab.hate_speech.hierarchy import Hierarchy, agglomerate
from biaslab.text.encoder import predict
from biaslab.text.language_model import BiGRU


@dataclass(frozen=True)
class OwnExplanation:
    """The explanation of one sentence."""

    words: list[str]  # that the classifier sees
    hierarchy: Hierarchy
    score: float  # s(x), positive when the sentence is classified as positive
    is_cut: bool = False  # whether the sentence is longer than the classifier reads

    @property
    def importance(self) -> list[tuple[str, float]]:
        """Every word with its importance φ, in the order of reading."""
        return [(self.words[start], phi) for start, _, phi in self.hierarchy.levels[0]]


def explain_sentences(
    classifier: FolderClassifier,
    sentences: Sequence[str],
    settings: ContextSettings,
    language_model: BiGRU | None,
    seed: int,
    progress: Callable[[int, int], None] = lambda done, n: None,
) -> list[OwnExplanation]:
    """Explain sentences one after the other; a radius above 0 needs a language model."""
    tokenizer, model = classifier.tokenizer, classifier.model
    if language_model is not None and len(language_model.index) != len(tokenizer.vocabulary):
        raise InputError(
            f"the language model knows a vocabulary of {len(language_model.index)} tokens, the classifier's"
            f" has {len(tokenizer.vocabulary)}; train one for this classifier"
        )
    tokens = classifier.tokens(sentences)
    scores = predict(model, tokens, tokenizer.pad)
    found = []
    for row, sentence in enumerate(sentences):
        places = word_spans(tokens, row).start
        if not len(places):
            raise InputError(f"sentence {row + 1} has no word that the classifier sees; write another")
        phi = phrase_importance(
            model, tokens, row, settings, tokenizer, language_model=language_model, seed=seed
        )
        hierarchy = agglomerate(phi, len(places))
        words = tokenizer.words(sentence)
        kept = tokens.words[tokens.offsets[row] + places]
        is_cut = len(tokenizer.pieces(sentence)) + 2 > classifier.max_length
        found.append(OwnExplanation([words[i] for i in kept], hierarchy, float(scores[row]), is_cut))
        progress(row + 1, len(sentences))
    return found
