"""The cost of pinning what depends on the processor: each task pinned, against this machine's own code paths.

Both take turns in processes of their own; of each task the fastest of all rounds counts, in processor time.
"""

import json
import os
import subprocess
import sys
import time

ROUNDS, TIMES = 3, 3
NATIVE = {"BIASLAB_CPU": "native"}


def tasks():
    """Return what is measured: a function for each name, which computes it once."""
    import bench_corpus
    from biaslab.classifiers.domain import Domain, Protected
    from biaslab.classifiers.training import train as train_tabular
    from biaslab.core.jit import set_threads
    from biaslab.core.rng import stream
    from biaslab.embeddings import cooccurrence
    from biaslab.embeddings.glove import GloveParameters, train
    from biaslab.fairness_testing.testers import adf
    from biaslab.fairness_testing.testers.adf import PUBLISHED
    from biaslab.fairness_testing.testers.contract import Subject, Task, collect
    from biaslab.text.recurrent import initial_recurrent
    from biaslab.text.recurrent_training import TrainingSettings, train_recurrent
    from biaslab.text.words import Texts

    import numpy as np

    set_threads(1)
    tokens, offsets, words = bench_corpus.made(4000, 400, 300_000)[:3]
    x = cooccurrence.count(tokens, offsets, len(words), 8, 1)

    rng = np.random.default_rng(1)
    texts = Texts.of(list(rng.integers(0, 5000, (6000, 20))))
    labels, vectors = rng.integers(0, 2, 6000), rng.normal(0, 0.4, (5000, 50)).astype(np.float32)
    lstm = initial_recurrent("lstm", vectors, 3)

    domain = Domain(tuple("abcdefghijklm"), np.zeros(13, np.int32), np.full(13, 9, np.int32))
    X = domain.draw(3000, rng)
    network = train_tabular(X, (X[:, 0] + X[:, 1] > X[:, 2] + 4).astype(np.int64), 2, epochs=20, seed=1)
    subject = Subject(network, domain, Protected.of(domain, (8,)))
    search = Task(subject, data=X, seeds=X[:1500], n_seeds=1500, seed=1, hops=100)
    found = {
        "counting": lambda: cooccurrence.count(tokens, offsets, len(words), 8, 1),
        "GloVe training": lambda: train(x, GloveParameters(75, 3), stream(0)),
        "LSTM training": lambda: train_recurrent(lstm, texts, labels, TrainingSettings(3), 1),
        "ADF search": lambda: collect(adf.TESTER.search(search, PUBLISHED)),
    }
    try:
        return found | {"encoder step": encoder_step(np)}
    except ModuleNotFoundError:
        return found


def encoder_step(np):
    """Return a step of training a BERT of six layers of 384 units on 16 texts."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.set_num_threads(1)
    config = BertConfig(
        vocab_size=5000, hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536
    )
    model = BertForSequenceClassification(config)
    ids = torch.from_numpy(np.random.default_rng(1).integers(0, 5000, (16, 24)))
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)

    def step():
        for _ in range(3):
            model(input_ids=ids, labels=ids[:, 0] % 2).loss.backward()
            optimizer.step()
            optimizer.zero_grad()

    return step


def measure():
    """Return the fewest seconds of each task in this process, after one that compiles."""
    seconds = {}
    for name, run in tasks().items():
        run()
        clock = []
        for _ in range(TIMES):
            start = time.process_time()
            run()
            clock.append(time.process_time() - start)
        seconds[name] = min(clock)
    return seconds


def main():
    if sys.argv[1:] == ["measure"]:
        print(json.dumps(measure()))
        return
    rounds = {"pinned": [], "native": []}
    for _ in range(ROUNDS):
        for name, environment in (("pinned", {}), ("native", NATIVE)):
            command = [sys.executable, __file__, "measure"]
            done = subprocess.run(command, env=os.environ | environment, capture_output=True, check=True)
            rounds[name].append(json.loads(done.stdout))
    for task in rounds["pinned"][0]:
        pinned, native = (min(one[task] for one in rounds[name]) for name in rounds)
        print(f"{task:16} pinned {pinned:6.2f} s   native {native:6.2f} s   ratio {pinned / native:5.2f}")


if __name__ == "__main__":
    main()
