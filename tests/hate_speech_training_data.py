"""A tiny classifier, its tokenizer and neutral sentences for the tests of training."""

from biaslab.core.rng import stream
from biaslab.text.encoder import load_classifier
from biaslab.text.tokens import Tokenizer
from text_data import tiny_classifier

GROUPS = ("bakers", "cyclists", "gardeners", "sailors")
WORDS = (
    "the",
    "a",
    "some",
    "met",
    "saw",
    "heard",
    "like",
    "near",
    "park",
    "harbour",
    "oven",
    "rose",
    "slowly",
)
UNUSED = ("quince", "piano", "glacier")


def tiny_encoder(folder, layers=2, width=16, seed=1):
    """Write an encoder that knows more words than the sentences have; return its tokenizer and the folder."""
    tiny_classifier(folder, (*GROUPS, *UNUSED, *WORDS), layers=layers, width=width, seed=seed)
    return Tokenizer.load(folder / "vocab.txt"), folder


def tiny_model(folder, **options):
    """Write and load a tiny classifier; return it and its tokenizer."""
    tokenizer, folder = tiny_encoder(folder, **options)
    return load_classifier(folder, seed=1), tokenizer


def sentences(n, seed):
    """Neutral sentences of 3 to 12 words, every third one about a group, and labels that words give away."""
    rng = stream(seed, "sentences")
    texts, labels = [], []
    for i in range(n):
        words = list(rng.choice(WORDS, size=int(rng.integers(3, 13))))
        if i % 3 == 0:
            words[int(rng.integers(len(words)))] = str(rng.choice(GROUPS))
        texts.append(" ".join(words))
        labels.append(int("oven" in words or "rose" in words))
    return texts, labels
