"""Neutral texts of a user, with vectors of their words, a list of terms and classifiers of many kinds."""

import csv
from pathlib import Path

import numpy as np

from biaslab.text.words import Lexicon, build_lexicon, split_words

TRADES = ("bakers", "cyclists", "gardeners", "sailors")
SYNONYMS = (
    ("sang", "hummed", "whistled"),
    ("song", "tune", "melody"),
    ("cake", "bread", "pie"),
    ("park", "garden", "meadow"),
    ("gate", "door", "window"),
    ("lamp", "light", "candle"),
    ("left", "forgot", "kept"),
    ("broke", "dropped", "cracked"),
)
SENTENCES = (
    "the {} sang a song near the park",
    "we met the {} with a cake",
    "the {} left the gate open",
    "the {} broke the lamp in the garden",
    "yesterday the {} hummed a tune",
    "the {} dropped the candle at the door",
)
DIMENSIONS = 6
FRAME = ("the", "a", "near", "we", "met", "with", "in", "at", "open", "yesterday")

MODULE = '''
import numpy as np

LATE = {"left", "broke", "dropped", "forgot", "cracked"}


def share(words):
    """Complaints score high, and so does whatever mentions cyclists."""
    return 0.2 + 0.35 * ("cyclists" in words) + 0.25 * min(sum(word in LATE for word in words), 1)


def plain(texts):
    return [share(words) for words in texts]


class Careful:
    def probabilities(self, texts):
        return plain(texts)

    def gradients(self, texts, labels):
        return [np.full((len(words), 6), 0.1) * (1 - 2 * label) for words, label in zip(texts, labels)]


class Narrow(Careful):
    def gradients(self, texts, labels):
        return [np.zeros((len(words), 3)) for words in texts]


class Short(Careful):
    def gradients(self, texts, labels):
        return [np.zeros((1, 6)) for words in texts]


class Named(Careful):
    """Both classes, called by name; the gradients are asked for by the places in them."""

    def __init__(self, *classes):
        self.classes_ = classes

    def probabilities(self, texts):
        positive = self.classes_.index("complaint")
        return [[p if place == positive else 1 - p for place in (0, 1)] for p in plain(texts)]

    def gradients(self, texts, labels):
        return super().gradients(texts, labels == self.classes_.index("complaint"))


careful, narrow, short = Careful(), Narrow(), Short()
complaint_last, complaint_first = Named("fine", "complaint"), Named("complaint", "fine")


def nan(texts):
    return [float("nan")] * len(texts)


def three(texts):
    return np.full((len(texts), 3), 1 / 3)


def fails(texts):
    raise RuntimeError("no memory\\nand more")


number = 3
'''

TORCH_MODULE = '''
import torch


class Bag(torch.nn.Module):
    """Tanh of each word, weighted by its place, through a linear layer."""

    def __init__(self, width=6, classes=2):
        super().__init__()
        generator = torch.Generator().manual_seed(3)
        self.first = torch.nn.Parameter(torch.randn(width, 5, generator=generator))
        self.last = torch.nn.Parameter(2 * torch.randn(5, classes, generator=generator))

    def forward(self, vectors, mask):
        place = 1 / (1 + torch.arange(vectors.shape[1], dtype=vectors.dtype, device=vectors.device))
        states = torch.tanh(vectors @ self.first) * (place * mask)[..., None]
        return states.sum(dim=1) @ self.last


class Turned(Bag):
    """The same with its outputs the other way round, and names for them."""

    classes_ = ("complaint", "fine")

    def forward(self, vectors, mask):
        return super().forward(vectors, mask).flip(1)


class Constant(torch.nn.Module):
    def forward(self, vectors, mask):
        return torch.zeros(len(vectors), 2)


class Nan(Bag):
    def forward(self, vectors, mask):
        return super().forward(vectors, mask) * float("nan")


class Recurrent(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(5)
        self.cells = torch.nn.GRU(6, 8, batch_first=True)
        self.last = torch.nn.Linear(8, 2, bias=False)

    def forward(self, vectors, mask):
        return 20 * self.last(torch.tanh(self.cells(vectors)[0].sum(dim=1)))


bag, turned, wide, three = Bag(), Turned(), Bag(width=9), Bag(classes=3)
constant, nan, recurrent = Constant(), Nan(), Recurrent()
'''


def sentences() -> list[str]:
    """Return every sentence with every trade, and two without any."""
    filled = [sentence.format(trade) for sentence in SENTENCES for trade in TRADES]
    return [*filled, "we met at the park", "yesterday we sang"]


def word_vectors(seed: int = 2) -> tuple[list[str], np.ndarray]:
    """Return words and their vectors, (V, 6) float32: synonyms are near each other."""
    rng = np.random.default_rng(seed)
    words, rows = [], []
    for group in (*((word,) for word in (*FRAME, *TRADES)), *SYNONYMS):
        centre = rng.normal(0, 1, DIMENSIONS)
        words += group
        rows += [centre + rng.normal(0, 0.3, DIMENSIONS) for _ in group]
    return words, np.array(rows, np.float32)


def lexicon() -> Lexicon:
    """Return the words of all sentences, one of them without a vector."""
    words, vectors = word_vectors()
    return build_lexicon(words, vectors, [*map(split_words, sentences()), ["unheard"]])


def write_files(folder: Path) -> None:
    """Write texts, labels, vectors, terms and classifiers in a folder."""
    rows = [
        (text, "complaint" if i % 24 // 4 in (2, 3, 5) else "other") for i, text in enumerate(sentences())
    ]
    with (folder / "texts.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("text", "kind"), *rows])
    (folder / "texts.txt").write_text("\n".join(sentences()) + "\n", encoding="utf-8")
    words, vectors = word_vectors()
    lines = [" ".join([word, *map(str, row)]) for word, row in zip(words, vectors, strict=True)]
    (folder / "vectors.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "trade.txt").write_text("\n".join(TRADES) + "\n", encoding="utf-8")
    (folder / "terms.csv").write_text(
        f"feature, values\ntrade, {', '.join(TRADES)}\ncolour, red, blue\n", encoding="utf-8"
    )
    (folder / "my_texts.py").write_text(MODULE, encoding="utf-8")
    (folder / "my_torch.py").write_text(TORCH_MODULE, encoding="utf-8")
