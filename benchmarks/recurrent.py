"""Recurrent networks by compiled kernels, against torch on the same texts in the same run, on one thread."""

import importlib.util
import time

from biaslab.core.jit import set_threads
from biaslab.core.rng import stream
from biaslab.text.recurrent import initial_recurrent
from biaslab.text.recurrent_training import TrainingSettings, train_recurrent
from biaslab.text.words import Texts

import numpy as np

N_TEXTS, N_WORDS, LEXICON, DIMENSIONS, BATCH = 4096, 20, 20_000, 50, 64
VARIANTS = 160
TIMES = 5


def best(run):
    """Return the seconds of the fastest of some runs, after one that compiles."""
    run()
    clock = []
    for _ in range(TIMES):
        start = time.perf_counter()
        run()
        clock.append(time.perf_counter() - start)
    return min(clock)


def variants_of(texts):
    """Return as many texts, runs of variants with another word in one place."""
    rows = texts.ids.reshape(N_TEXTS, N_WORDS)[np.arange(N_TEXTS) // VARIANTS * VARIANTS]
    places = stream(4).integers(0, N_WORDS, N_TEXTS // VARIANTS + 1)[np.arange(N_TEXTS) // VARIANTS]
    rows[np.arange(N_TEXTS), places] = np.arange(N_TEXTS) % LEXICON
    return Texts.of(list(rows))


def ours(network, texts, labels):
    """Return the seconds of two forward passes, the second of variants, of all gradients and of an epoch."""
    settings, variants = TrainingSettings(1, BATCH), variants_of(texts)
    return (
        best(lambda: network.logits(texts)),
        best(lambda: network.logits(variants)),
        best(lambda: network.gradients(texts, labels)),
        best(lambda: train_recurrent(network, texts, labels, settings, 1)),
    )


def by_torch(network, texts, labels):
    """Return the same of torch."""
    import torch

    torch.set_num_threads(1)
    cells = {"lstm": torch.nn.LSTM, "gru": torch.nn.GRU}[network.kind]
    net = cells(DIMENSIONS, network.hidden, len(network.layers), batch_first=True)
    out = torch.nn.Linear(network.hidden, 2)
    x = torch.tensor(network.vectors[texts.ids].reshape(N_TEXTS, N_WORDS, -1))
    y = torch.tensor(labels)
    adam = torch.optim.Adam([*net.parameters(), *out.parameters()], lr=0.01)

    def loss(x, y, reduction):
        return torch.nn.functional.cross_entropy(out(net(x)[0][:, -1]), y, reduction=reduction)

    def forward():
        with torch.no_grad():
            out(net(x)[0][:, -1])

    def gradients():
        inputs = x.clone().requires_grad_()
        torch.autograd.grad(loss(inputs, y, "sum"), inputs)

    def train():
        for rows in torch.tensor(stream(1).permutation(N_TEXTS)).split(BATCH):
            adam.zero_grad()
            loss(x[rows], y[rows], "mean").backward()
            adam.step()

    return best(forward), best(forward), best(gradients), best(train)


def main():
    set_threads(1)
    rng = stream(2)
    vectors = rng.normal(0, 0.4, (LEXICON, DIMENSIONS)).astype(np.float32)
    ranks = np.minimum(rng.zipf(1.3, (N_TEXTS, N_WORDS)) - 1, LEXICON - 1)  # words repeat as in texts
    texts, labels = Texts.of(list(ranks)), rng.integers(0, 2, N_TEXTS)
    has_torch = importlib.util.find_spec("torch") is not None
    print(
        f"{N_TEXTS} texts of {N_WORDS} words, {DIMENSIONS} numbers a word, 3 layers of 10 units, one thread:"
    )
    for kind in ("lstm", "gru"):
        network = initial_recurrent(kind, vectors, 3)
        fast = ours(network, texts, labels)
        slow = by_torch(network, texts, labels) if has_torch else (None,) * 4
        for task, a, b in zip(
            ("forward", "of variants", "input gradients", "training"), fast, slow, strict=True
        ):
            against = f"   torch {N_TEXTS / b:8.0f}   {b / a:5.1f} times" if b else ""
            print(f"  {kind:5} {task:16}{N_TEXTS / a:8.0f} texts / s{against}")


if __name__ == "__main__":
    main()
