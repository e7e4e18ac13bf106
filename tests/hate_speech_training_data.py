"""A tiny classifier, a language model and neutral sentences for the tests of training."""

from torch import nn

from biaslab.core.rng import stream
from biaslab.text.encoder import load_classifier
from biaslab.text.language_model import BiGRU, known_tokens
from biaslab.text.tokens import Tokenizer
from text_data import tiny_classifier

GROUPS = ("bakers", "cyclists", "gardeners", "sailors")
WORDS = ("the", "some", "met", "saw", "heard", "near", "park", "harbour", "oven", "rose", "then", "here")
UNUSED = ("quince", "piano", "glacier")


def tiny_model(folder, dropout=True, **options):
    """Write and load a classifier that knows more words than sentences have; return it and its tokenizer."""
    tiny_classifier(folder, (*GROUPS, *UNUSED, *WORDS), **options)
    model = load_classifier(folder, seed=1)
    for module in model.modules():
        if isinstance(module, nn.Dropout) and not dropout:
            module.p = 0.0
    return model, Tokenizer.load(folder / "vocab.txt")


def tiny_language_model(tokenizer, tokens):
    known = known_tokens(tokens, tokenizer)
    return BiGRU(known, len(tokenizer.vocabulary), tokenizer.unk, 4, 4).initialize(1)


def group_ids(tokenizer):
    return {group: tokenizer.vocabulary.index(group) for group in GROUPS}


def sentences(n, seed, about=3):
    """Neutral sentences of 3 to 12 words, one in `about` on a group; a word gives their labels away."""
    rng = stream(seed, "sentences")
    texts, labels = [], []
    for i in range(n):
        words = list(rng.choice(WORDS, size=int(rng.integers(3, 13))))
        if i % about == 0:
            words[int(rng.integers(len(words)))] = str(rng.choice(GROUPS))
        texts.append(" ".join(words))
        labels.append(int("oven" in words))
    return texts, labels
