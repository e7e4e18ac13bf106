"""What every family of computations gives on tiny inputs, as digests: to compare processors.

    OPENBLAS_NUM_THREADS=1 python tests/processors.py [FAMILY ...]
    OPENBLAS_NUM_THREADS=1 qemu-x86_64 -cpu Haswell .venv/bin/python tests/processors.py

prints a line for each result: its name and the sha256 of its bytes. Equal lines on two machines mean that
nothing there depended on the processor. OpenBLAS groups sums by threads, and takes one for each core where
nobody says how many, so say it. With BIASLAB_CPU=native the lines show what would depend. With --write those
of all families become the reference that the tests compare with, processors.tsv: after a change of what is
computed, or of a library.
"""

import hashlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import biaslab  # isort: split

import numpy as np

from biaslab.bias.word_sets import WeatIndices
from biaslab.core.jit import set_threads
from biaslab.core.rng import stream
from biaslab.run.record.provenance import environment
from biaslab.text.words import Texts

REFERENCE = Path(__file__).with_name("processors.tsv")
"""The digests of the target, and the versions of libraries that they were made with."""
LIBRARIES = ("numpy", "scipy", "numba", "scikit-learn", "gensim", "pandas", "pyarrow", "matplotlib", "torch")

N_WORDS, DIMENSION = 90, 50
FUNCTIONS = (
    "exp",
    "log",
    "sin",
    "cos",
    "tan",
    "tanh",
    "arctan",
    "log1p",
    "expm1",
    "sqrt",
    "cbrt",
    "exp2",
    "log2",
)
TORCH_FUNCTIONS = ("exp", "log", "log1p", "expm1", "tanh", "sigmoid", "erf", "rsqrt", "sin", "cos")
WEAT = WeatIndices("test", *(np.array(ids, np.int64) for ids in ([3, 30, 8], [7, 41], [0, 22], [1, 35, 60])))
Results = Iterator[tuple[str, Any]]


def digest(value: Any) -> str:
    """Return the sha256 of bytes, or of the arrays in a value, with their types and shapes."""
    found = hashlib.sha256()

    def add(part: Any) -> None:
        if isinstance(part, bytes):
            found.update(part)
        elif isinstance(part, dict):
            add(list(part.values()))
        elif isinstance(part, list | tuple):
            for one in part:
                add(one)
        else:
            array = np.asarray(part)
            assert array.dtype != object, part
            found.update(f"{array.dtype}{array.shape}".encode() + array.tobytes())

    add(value)
    return found.hexdigest()


@cache
def corpus() -> tuple[np.ndarray, np.ndarray]:
    """Return tokens and offsets of documents in which some words are frequent."""
    rng = np.random.default_rng(5)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 60, 150))]).astype(np.int64)
    tokens = np.minimum(rng.zipf(1.2, offsets[-1]) - 1, N_WORDS - 1)
    tokens = np.where(rng.random(offsets[-1]) < 0.4, rng.integers(0, N_WORDS, offsets[-1]), tokens)
    return tokens.astype(np.int32), offsets


@cache
def counts() -> Any:
    from biaslab.embeddings import cooccurrence

    return cooccurrence.count(*corpus(), N_WORDS, 8)


@cache
def glove() -> Any:
    from biaslab.embeddings.glove import GloveParameters, train

    return train(counts(), GloveParameters(DIMENSION, 4, 20.0, 0.75), stream(0))


def texts(n: int = 120, seed: int = 1) -> Texts:
    rng = np.random.default_rng(seed)
    return Texts.of([rng.integers(0, N_WORDS, rng.integers(1, 17)) for _ in range(n)])


def labels(n: int = 120) -> np.ndarray:
    return np.random.default_rng(2).integers(0, 2, n)


def vectors() -> np.ndarray:
    return np.random.default_rng(3).normal(0, 0.5, (N_WORDS, DIMENSION)).astype(np.float32)


def numpy_and_scipy() -> Results:
    """Functions, sums, sorting and linear algebra of numpy and scipy: their dispatch and OpenBLAS."""
    import scipy.linalg
    import scipy.optimize
    import scipy.special
    import scipy.stats

    rng = np.random.default_rng(1)
    for dtype in (np.float32, np.float64):
        x = rng.uniform(0.05, 3, 1003).astype(dtype)
        A, B = rng.normal(size=(67, 131)).astype(dtype), rng.normal(size=(131, 43)).astype(dtype)
        square = A @ A.T + np.eye(67, dtype=dtype)
        for name in FUNCTIONS:
            yield f"{name}-{dtype.__name__}", getattr(np, name)(x)
        yield f"power-{dtype.__name__}", [x**1.7, x**0.75, np.hypot(x, x + 1), np.divide(1, x)]
        yield f"sums-{dtype.__name__}", [x.sum(), x.mean(), x.std(), A.sum(axis=0), A.mean(axis=1)]
        yield f"sort-{dtype.__name__}", [np.sort(x), np.argsort(x.round(1)), np.partition(x, 100)]
        yield f"products-{dtype.__name__}", [A @ B, A.T @ A, A @ B[:, 0], np.dot(x, x), np.outer(x, x[:9])]
        yield f"einsum-{dtype.__name__}", np.einsum("ij,jk,ik->i", A, B, A @ B)
        yield f"norm-{dtype.__name__}", np.linalg.norm(A, axis=1)
        yield f"svd-{dtype.__name__}", np.linalg.svd(A, full_matrices=False)
        yield f"eigh-{dtype.__name__}", [*np.linalg.eigh(square), *scipy.linalg.eigh(square)]
        yield f"solve-{dtype.__name__}", [np.linalg.solve(square, A), np.linalg.inv(square)]
        yield f"cholesky-{dtype.__name__}", [scipy.linalg.cholesky(square), scipy.linalg.lu(square)]
        yield f"qr-{dtype.__name__}", [*np.linalg.qr(A), *scipy.linalg.qr(B)]
    big = rng.normal(size=(300, 500))
    yield "product-of-blocks", [big @ big.T, big.astype(np.float32) @ big.T.astype(np.float32)]
    yield "draws", [rng.normal(size=99), rng.zipf(1.3, 99), rng.permutation(99), rng.beta(2, 3, 99)]
    yield "scipy.special", [f(x.astype(float)) for f in (scipy.special.expit, scipy.special.gammaln)]
    yield "scipy.stats", [
        tuple(scipy.stats.spearmanr(A[0], A[1])), tuple(scipy.stats.ttest_ind(A[0], A[1])),
        scipy.stats.t.ppf(0.975, 7), tuple(scipy.stats.mannwhitneyu(A[0], A[1])),
    ]  # fmt: skip
    yield "scipy.optimize", scipy.optimize.minimize(scipy.optimize.rosen, np.zeros(5), method="L-BFGS-B").x


def embeddings() -> Results:
    """Counting, GloVe, PPMI, and word2vec by gensim."""
    from biaslab.embeddings import word2vec
    from biaslab.embeddings.ppmi import row_sums

    x = counts()
    yield "counts", [x.counts, x.indices, row_sums(x)]
    yield "glove", [glove().W, glove().U, glove().b, glove().c, glove().loss]
    yield "word2vec", word2vec.train(*corpus(), N_WORDS, word2vec.Word2VecParameters(24, 5, 2), stream(3))


def bias_and_origins() -> Results:
    """WEAT, and the influence of documents on it, by GloVe's and by PPMI vectors."""
    from biaslab.bias.weat import effect_size, permutation_p_value
    from biaslab.embeddings.ppmi import row_sums
    from biaslab.origins.attribution import influence
    from biaslab.origins.attribution import ppmi as ppmi_scan

    e = {name: getattr(glove(), name).astype(np.float64) for name in ("W", "U", "b", "c")}
    rows = influence.weat_rows(
        counts(), np.unique(np.concatenate([WEAT.S, WEAT.T, WEAT.A, WEAT.B])), 20, 0.75
    )
    removals = influence.removals_of_documents(rows, *corpus())
    p = permutation_p_value(vectors(), WEAT, 4, np.random.default_rng(5))
    yield "weat", [effect_size(e["W"], WEAT), p.p_value]
    found = influence.differential_bias(rows, removals, WEAT, e, 0.01)
    yield "differential-bias", [found.values, found.baseline]
    yield "bias-gradient", influence.local_loss(rows, WEAT, e, 0.01, None).bias_gradient
    yield "ppmi-weat", ppmi_scan.ppmi_effect_size(counts(), row_sums(counts()), WEAT)
    yield "ppmi-scan", ppmi_scan.differential_bias(counts(), *corpus(), WEAT, 1)


def tabular() -> Results:
    """Networks on tables, and the testers that search with them."""
    from biaslab.classifiers.training import train
    from biaslab.fairness_testing.testers import adf, aequitas
    from biaslab.fairness_testing.testers.adf import PAPER
    from biaslab.fairness_testing.testers.contract import collect
    from biaslab.fairness_testing.testers.symbolic import Explainer
    from fairness_data import make_subject, make_task, small_domain

    X = small_domain().draw(400, np.random.default_rng(1))
    y = (X[:, 0] * 2 + X[:, 1] > X[:, 2]).astype(np.int64)
    network = train(X, y, 2, epochs=8, seed=1)
    yield "network", [*network.weights, *network.biases]
    yield "logits", [network.logits(X), network.input_gradients(X, y)]
    subject = make_subject(network, (1, 4))
    found = collect(adf.TESTER.search(make_task(make_subject(network, (1,)), X[:40], hops=30, seed=3), PAPER))
    yield "adf", [list(vars(trail).values()) for trail in (found.global_, found.local)]
    walk = aequitas.search_around(make_task(subject, X[:5], hops=60, seed=7), aequitas.PUBLISHED)
    yield "aequitas", [walk.samples, walk.discriminatory]
    explainer = Explainer(network, X, 300)
    yield (
        "explanation-tree",
        repr([explainer.explain(x, stream(23, i)) for i, x in enumerate(X[:8])]).encode(),
    )


def recurrent() -> Results:
    """LSTM and GRU: training, answers, gradients, and searching with them."""
    from biaslab.fairness_testing.text.discrimination import TextSubject
    from biaslab.fairness_testing.text.search import MAX_ITER, STRATEGIES, search_globally, search_locally
    from biaslab.text.recurrent import initial_recurrent
    from biaslab.text.recurrent_training import TrainingSettings, train_recurrent
    from fairness_text_data import draws, neighbours_of

    values = np.array([3, 17, 10, 41, 30], np.int32)
    for kind in ("lstm", "gru"):
        start, settings = initial_recurrent(kind, vectors(), 3), TrainingSettings(3, 32)
        network, _ = train_recurrent(start, texts(), labels(), settings, 1)
        yield f"{kind}-network", [*network.layers, network.W_out, network.b_out]
        yield f"{kind}-logits", [network.logits(texts()), network.gradients(texts(), labels())]
        subject = TextSubject(network, values, neighbours_of(vectors()))
        for name in STRATEGIES:
            found = search_globally(subject, texts(20, 4), STRATEGIES[name], draws(20, MAX_ITER))
            yield f"{kind}-global-{name}", [found.found, found.n_queries, found.texts.ids]
        near = search_locally(subject, texts(20, 4), 12, True, draws(20, 12))
        yield f"{kind}-local", [near.positions, near.words, near.n_queries]


def words() -> Results:
    from biaslab.text.similarity import bleu, jaccard, nearest_words, vector_distance
    from biaslab.text.words import build_lexicon

    lexicon = build_lexicon([f"w{i}" for i in range(N_WORDS)], vectors(), [[]])
    yield "neighbours", nearest_words(lexicon, 10, [3])
    one = texts()
    other = Texts(np.where(one.ids % 3, one.ids, (one.ids + 7) % N_WORDS).astype(np.int32), one.offsets)
    yield "similarity", [bleu(one, other), jaccard(one, other), vector_distance(one, other, vectors())]


def ranking() -> Results:
    from biaslab.ranking.batches import measure_batch

    rng = np.random.default_rng(0)
    scores = -np.sort(-rng.random((30, 3, 8)).round(2))
    desired = rng.random((30, 3))
    yield "measures", measure_batch(scores, desired / desired.sum(axis=1, keepdims=True), 12)


def linear() -> Results:
    from sklearn.cluster import KMeans
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    from biaslab.debiasing.remaining import cluster_accuracy
    from biaslab.hate_speech.linear import fit_linear

    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(160, 30)), rng.integers(0, 2, 160)
    documents = [" ".join(f"w{i:02}" for i in row) for row in rng.integers(0, 60, (160, 8))]
    yield "bag-binary", fit_linear(documents, y).weights
    yield "logistic", LogisticRegression().fit(X, y).coef_
    yield "svc", LinearSVC(dual=False, fit_intercept=False, random_state=1).fit(X, y % 2).coef_
    yield "clusters", [cluster_accuracy(X, y), KMeans(3, n_init=2, random_state=1).fit(X).cluster_centers_]
    yield "components", PCA(5).fit(X).components_


def torch_steps() -> Results:
    """A BERT, plain and explained, a language model of GRUs, and certified training."""
    import torch

    from biaslab.fairness_testing.text.certified import CertifiedSettings, train_certified
    from biaslab.fairness_testing.text.discrimination import TextSubject
    from biaslab.hate_speech.methods import parse_method
    from biaslab.hate_speech.objective import Batches, Objective, Regularization
    from biaslab.hate_speech.optimizers import adamw, bert_adam
    from biaslab.text.devices import make_deterministic
    from biaslab.text.encoder import predict
    from biaslab.text.language_model import LanguageModelSettings, train_language_model
    from biaslab.text.recurrent import initial_recurrent
    from hate_speech_training_data import group_ids, sentences, tiny_language_model, tiny_model

    make_deterministic(1)
    said, truth = sentences(60, 5)
    for name, optimizer in (("vanilla", bert_adam), ("soc-0.1", bert_adam), ("ear-0.1", adamw)):
        with tempfile.TemporaryDirectory() as folder:
            model, tokenizer = tiny_model(Path(folder), width=48)
        tokens, method = tokenizer.encode(said), parse_method(name)
        regularization = Regularization(
            method, group_ids(tokenizer), language_model=tiny_language_model(tokenizer, tokens)
        )
        batches, targets = Batches(tokens, 12, 1), np.array(truth, np.int8)
        objective = Objective(model, batches, targets, tokenizer, regularization, 0.3, 1)
        optimizer = optimizer(model.named_parameters())
        for step in range(4):
            objective.backward(step)
            optimizer.step(1e-3)
        yield f"encoder-{name}", [p.detach().numpy() for p in model.parameters()]
        model.eval()
        yield f"scores-{name}", predict(model, tokens, tokenizer.pad)
    settings = LanguageModelSettings(width=20, epochs=2)
    fitted, table = train_language_model(tokens, tokens, tokenizer, settings, 1)
    yield "language-model", [p.detach().numpy() for p in fitted.parameters()]
    yield "language-model-loss", table.select_dtypes("number").to_numpy()
    values, no_neighbours = np.array([2, 5, 11], np.int32), np.empty((N_WORDS, 0), np.int32)
    settings = CertifiedSettings(epochs=3, batch=32)
    data = texts(), labels()
    for kind in ("lstm", "gru"):
        subject = TextSubject(initial_recurrent(kind, vectors(), 3), values, no_neighbours)
        network = train_certified(subject, data, data, settings, 1)
        yield f"certified-{kind}", [*network.layers, network.W_out, network.b_out]
    x = torch.linspace(0.05, 3, 1003)
    for name in TORCH_FUNCTIONS:
        yield f"torch-{name}", getattr(torch, name)(x).numpy()
    yield "torch-softmax", [x.softmax(-1).numpy(), x.log_softmax(-1).numpy()]


def files() -> Results:
    import matplotlib
    import pandas as pd

    from biaslab.core import plotting, tables  # noqa: F401  sets the style
    from biaslab.core.io import write_parquet, write_tsv

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    with tempfile.TemporaryDirectory() as folder:
        frame = pd.DataFrame({"a": np.random.default_rng(1).normal(size=500), "b": np.arange(500) % 7})
        write_parquet(Path(folder) / "a.parquet", frame)
        write_tsv(Path(folder) / "a.tsv", frame.groupby("b", as_index=False).agg(["mean", "std"]))
        figure, axes = plt.subplots()
        axes.plot(np.sin(frame["a"].cumsum()), label="sum")
        axes.legend()
        figure.savefig(Path(folder) / "a.png", metadata={"Software": None})
        for path in sorted(Path(folder).iterdir()):
            yield path.suffix[1:], path.read_bytes()


FAMILIES: dict[str, Callable[[], Results]] = {
    function.__name__: function
    for function in (
        numpy_and_scipy,
        embeddings,
        bias_and_origins,
        tabular,
        recurrent,
        words,
        ranking,
        linear,
        torch_steps,
        files,
    )
}


def versions() -> str:
    """Return what else the digests depend on: the libraries that compute or write."""
    packages = environment()["packages"]
    return " ".join(f"{name}={packages[name]}" for name in LIBRARIES)


def main(names: list[str]) -> None:
    set_threads(1)
    lines = []
    for name in [name for name in names if name != "--write"] or FAMILIES:
        for part, value in FAMILIES[name]():
            lines.append(f"{name}/{part}\t{digest(value)}")
            print(lines[-1], flush=True)
    if "--write" in names:
        REFERENCE.write_text("\n".join([f"# {versions()}", *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    assert biaslab
    main(sys.argv[1:])
