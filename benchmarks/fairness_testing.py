"""ADF with all seeds in lock-step, against one sample at a time through SciPy's basin hopping."""

import itertools
import os
import time
from pathlib import Path

from biaslab.classifiers.domain import Protected
from biaslab.classifiers.encoding import read_table
from biaslab.classifiers.networks import Network, load_network
from biaslab.classifiers.schema import load_schema
from biaslab.core.errors import InputError
from biaslab.core.jit import set_threads
from biaslab.core.rng import stream
from biaslab.fairness_testing.cases import cluster, take_turns
from biaslab.fairness_testing.testers import adf
from biaslab.fairness_testing.testers.adf import MAX_ITER, PAPER, PUBLISHED
from biaslab.fairness_testing.testers.contract import Subject, Task, collect
from biaslab.run.data import datasets

import numpy as np
import scipy.optimize

REPOSITORY = Path(__file__).resolve().parents[1]
SCHEMA = REPOSITORY / "workflow/resources/classifiers/census.yaml"
SIZES = (13, 64, 32, 16, 8, 4, 2)
ATTRIBUTE = "sex"
SEEDS, HOPS = 1000, 1000
SEEDS_ONE_BY_ONE, HOPS_ONE_BY_ONE = 40, 100
TIMES = 3
BATCHES = (1, 64, 1024, 16384)


def load(domain, schema):
    """Return a network, seeds (1000, d) int32 and a description."""
    try:
        registry = datasets.load_registry(REPOSITORY / "workflow/resources/datasets.tsv")
        mirror = os.environ.get("BIASLAB_MIRROR", str(REPOSITORY / "../shared/data"))
        names = ("adf-census", "adf-census-network")
        data, network = (datasets.resolve(registry[name], None, mirror).location for name in names)
    except InputError as error:
        print(f"{error}\n(or name a mirror folder in BIASLAB_MIRROR; here a random network is taken)")
        return random_network(domain), domain.draw(SEEDS, stream(1)), "random network"
    X = read_table(data, schema).X
    return load_network(network), X[take_turns(cluster(X), SEEDS)], "census"


def random_network(domain):
    """Draw a network of the same size, whose two labels are about as frequent as each other."""
    rng = stream(0)
    shapes = list(itertools.pairwise(SIZES))
    weights = [rng.normal(size=shape) * np.sqrt(2 / shape[0]) for shape in shapes]
    biases = [np.zeros(shape[1]) for shape in shapes]
    z = Network(weights, biases).logits(domain.draw(10_000, rng))
    biases[-1][1] = np.median(z[:, 0] - z[:, 1])
    return Network(weights, biases)


class OneByOne:
    """The published search by numpy, one sample at a time, with one protected attribute."""

    def __init__(self, subject, rng):
        self.weights, self.biases = subject.model.weights, subject.model.biases
        self.domain, protected = subject.domain, subject.protected
        self.column, self.values = protected.columns[0], protected.values[:, 0]
        self.rng = rng
        self.found = set()

    def forward(self, x):
        """Return the activations of all layers and the probabilities."""
        activations = [x.astype(np.float32)]
        for layer, (w, b) in enumerate(zip(self.weights, self.biases, strict=True)):
            z = activations[-1] @ w + b
            activations.append(np.maximum(z, 0) if layer < len(self.weights) - 1 else z)
        exponentials = np.exp(activations[-1] - activations[-1].max())
        return activations, exponentials / exponentials.sum()

    def gradient(self, x):
        """Return the gradient of the loss of the predicted label."""
        activations, error = self.forward(x)
        error[error.argmax()] -= 1
        for w, a in zip(self.weights[::-1], activations[-2::-1], strict=True):
            error = (w @ error) * (a > 0)
        return error

    def partner(self, x):
        """Return the first value that flips the label, or else the farthest one, and whether it flips."""
        outputs = self.forward(x)[1]
        label, farthest, largest = outputs.argmax(), -1, 0.0
        for value in self.values[self.values != x[self.column]]:
            other = self.forward(self.put(x, value))[1]
            if other.argmax() != label:
                return value, True
            if abs(other[label] - outputs[label]) > largest:
                farthest, largest = value, abs(other[label] - outputs[label])
        return farthest, False

    def put(self, x, value):
        """Return the sample with another protected value."""
        x = x.copy()
        x[self.column] = value
        return x

    def start(self, x):
        """Run the global phase; return the find and its partner's value, or nothing."""
        for iteration in range(MAX_ITER + 1):
            value, flips = self.partner(x)
            if flips:
                return x, value
            if iteration < MAX_ITER:
                s, t = np.sign(self.gradient(x)), np.sign(self.gradient(self.put(x, value)))
                step = t if not s.any() else s if not t.any() else (s == t).astype(float)
                step[self.column] = 0
                x = self.domain.clip((x + s * step).astype(np.int32))
        return None

    def energy(self, x):
        """Return 0 for a discriminatory sample, which is noted, and 1 for another."""
        x = x.astype(int)
        flips = self.partner(x)[1]
        if flips:
            self.found.add(tuple(np.delete(x, self.column).tolist()))
        return 0.0 if flips else 1.0

    def walk(self, x, value, hops):
        """Run the local phase from a find."""

        def take_step(x):
            x = x.astype(int)
            with np.errstate(divide="ignore"):
                weights = 1 / (np.abs(self.gradient(x)) + np.abs(self.gradient(self.put(x, value)))).astype(
                    float
                )
            weights[self.column] = 0
            weights = np.isinf(weights) if np.isinf(weights).any() else weights
            x[self.rng.choice(len(x), p=weights / weights.sum())] += self.rng.choice([1, -1])
            return self.domain.clip(x).astype(float)

        scipy.optimize.basinhopping(
            self.energy,
            x.astype(float),
            niter=hops,
            take_step=take_step,
            minimizer_kwargs={"method": "L-BFGS-B"},
        )


def search_one_by_one(subject, seeds):
    """Return how many different discriminatory samples some seeds lead to, and how many hops were made."""
    search = OneByOne(subject, stream(2))
    finds = [find for find in map(search.start, seeds[:: len(seeds) // SEEDS_ONE_BY_ONE]) if find is not None]
    for find in finds:
        search.walk(*find, HOPS_ONE_BY_ONE)
    return len(search.found), len(finds) * HOPS_ONE_BY_ONE


def search_in_lock_step(subject, seeds, settings, hops):
    """Return how many different discriminatory samples all seeds lead to, and how many hops were made."""
    task = Task(subject, seeds, seeds, len(seeds), seed=1, hops=hops)
    phases = collect(adf.TESTER.search(task, settings))
    found = phases.joined().count(subject.protected).n_discriminatory
    return found, int(phases.global_.discriminatory.sum()) * hops


def rate(times, search, *arguments):
    """Return what is found and how many hops are made, and both a second in the fastest of some runs."""
    clock = []
    for _ in range(times):
        start = time.perf_counter()
        done = np.array(search(*arguments))
        clock.append(time.perf_counter() - start)
    return done, done / min(clock)


def multiply(network, X):
    """Compute the logits by numpy's products of matrices."""
    z = X.astype(np.float32)
    for layer, (w, b) in enumerate(zip(network.weights, network.biases, strict=True)):
        z = z @ w + b
        if layer < len(network.weights) - 1:
            np.maximum(z, 0, out=z)
    return z


def report_kernels(network, domain):
    """Print what a forward pass costs."""
    print("  a forward pass, us a sample, one thread (numpy's threads are as the environment says):")
    for n in BATCHES:
        X = domain.draw(n, stream(3))
        took = []
        for way in (network.logits, lambda X: multiply(network, X)):
            clock = []
            for _ in range(20):
                start = time.perf_counter()
                way(X)
                clock.append(time.perf_counter() - start)
            took.append(min(clock) / n * 1e6)
        ratio = took[1] / took[0]
        print(f"  batch {n:6d}: kernel {took[0]:8.2f}   numpy {took[1]:8.2f}   numpy / kernel {ratio:6.2f}")


def report(label, done, speed, alone):
    """Print one row."""
    times = speed / alone
    print(
        f"  {label:20}{done[0]:8d} found {speed[0]:9.0f} / s {times[0]:7.0f} times"
        f"{done[1]:10d} hops {speed[1]:9.0f} / s {times[1]:7.0f} times"
    )


def main():
    schema = load_schema(SCHEMA)
    domain = schema.domain
    protected = Protected.of(domain, domain.columns([ATTRIBUTE]))
    network, seeds, name = load(domain, schema)
    subject = Subject(network, domain, protected)
    set_threads(1)
    search_in_lock_step(subject, seeds[:2], PUBLISHED, 2)  # compiles
    print(f"ADF, {name}, protected {ATTRIBUTE}, one thread: different discriminatory samples, and hops:")
    done, alone = rate(1, search_one_by_one, subject, seeds)
    report("one by one", done, alone, alone)
    for mode, settings in (("published", PUBLISHED), ("paper", PAPER)):
        done, fast = rate(TIMES, search_in_lock_step, subject, seeds, settings, HOPS)
        report(f"lock-step, {mode}", done, fast, alone)
    print("  goal: at least 100 times as many samples a second in the published mode")
    report_kernels(network, domain)


if __name__ == "__main__":
    main()
