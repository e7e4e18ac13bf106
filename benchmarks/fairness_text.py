"""The search for unfairly treated texts in lock-step, against one text, or one walk, at a time.

Made-up words in groups of like meaning, random recurrent networks: nothing needs to be there.
"""

import time

from biaslab.core.jit import set_threads
from biaslab.core.rng import stream
from biaslab.fairness_testing.text import search as found
from biaslab.fairness_testing.text.discrimination import TextSubject, check
from biaslab.fairness_testing.text.search import (
    MAX_ITER,
    draw_numbers,
    find_strategy,
    search_globally,
    search_locally,
)
from biaslab.text.recurrent import Recurrent
from biaslab.text.words import Texts, concatenate

import numpy as np

KINDS = {"lstm": 4, "gru": 3}
"""Gates of a unit by the kind of network."""

DIMENSION, HIDDEN, DEPTH = 50, 10, 3
GROUPS, GROUP = 1000, 11
VALUES = {"race": 7, "ethnic": 17, "country": 160}
"""As many values as the paper's features have."""

SEEDS, LENGTH = 1000, 17
HOPS, HOPS_OF_FINDS = 20, 50
ALONE, HOPS_ALONE = 4, 20
WANTED = 5000
PART = 50


class Timed:
    """A classifier that counts what it is asked, and how long it takes."""

    def __init__(self, model):
        self.model, self.vectors = model, model.vectors
        self.reset()

    def reset(self):
        """Begin to count anew."""
        self.n_queries = self.n_gradients = 0
        self.query_time = self.gradient_time = 0.0

    def probabilities(self, texts):
        """Return the classifier's probabilities."""
        start = time.perf_counter()
        answer = self.model.probabilities(texts)
        self.query_time += time.perf_counter() - start
        self.n_queries += len(texts)
        return answer

    def gradients(self, texts, labels):
        """Return the classifier's gradients."""
        start = time.perf_counter()
        answer = self.model.gradients(texts, labels)
        self.gradient_time += time.perf_counter() - start
        self.n_gradients += len(texts)
        return answer


def make_words():
    """Return vectors in groups, (V, d) float32, and the other words of the group of each, (V, 10) int32."""
    rng = stream(1, "words")
    centres = rng.normal(size=(GROUPS, DIMENSION)).repeat(GROUP, axis=0)
    vectors = (centres + 0.3 * rng.normal(size=centres.shape)).astype(np.float32)
    members = np.arange(GROUPS * GROUP, dtype=np.int32).reshape(GROUPS, GROUP)
    others = [np.delete(members, i, axis=1) for i in range(GROUP)]
    return vectors, np.stack(others, axis=1).reshape(len(vectors), GROUP - 1)


def make_texts(n_values, n):
    """Return texts of 17 words, one of which is a value: the first words are the values."""
    rng = stream(2, "texts", n_values)
    ids = rng.integers(n_values, GROUPS * GROUP, (n, LENGTH))
    ids[np.arange(n), rng.integers(0, LENGTH, n)] = rng.integers(0, n_values, n)
    return Texts(ids.ravel().astype(np.int32), np.arange(n + 1) * LENGTH)


def make_network(kind, vectors, texts):
    """Draw a network whose two labels are about as frequent as each other among some texts."""
    rng, gates = stream(3, kind), KINDS[kind] * HIDDEN
    layers = [
        tuple(
            (0.7 * rng.normal(size=shape)).astype(np.float32)
            for shape in ((gates, HIDDEN if i else DIMENSION), (gates, HIDDEN), (gates,), (gates,))
        )
        for i in range(DEPTH)
    ]
    W_out, b_out = rng.normal(size=(2, HIDDEN)).astype(np.float32), np.zeros(2, np.float32)
    z = Recurrent(kind, vectors, layers, W_out, b_out).logits(texts)
    b_out[1] = np.median(z[:, 0] - z[:, 1])
    return Recurrent(kind, vectors, layers, W_out, b_out)


def make_subject(kind, n_values):
    vectors, neighbours = make_words()
    values = np.arange(n_values, dtype=np.int32)
    neighbours = np.where(neighbours < n_values, -1, neighbours)
    neighbours = np.take_along_axis(neighbours, np.argsort(neighbours < 0, axis=1, kind="stable"), axis=1)
    texts = make_texts(n_values, SEEDS)
    return TextSubject(Timed(make_network(kind, vectors, texts)), values, neighbours), texts


class OneByOne:
    """The local phase with one text a question, as the published search is organised."""

    def __init__(self, subject):
        self.subject, self.model = subject, subject.model

    def answer(self, x):
        """Return the probabilities of one text."""
        return self.model.probabilities(Texts.of([x]))[0]

    def gradient(self, x, label):
        """Return the gradient of one text."""
        return self.model.gradients(Texts.of([x]), np.array([label]))

    def partner(self, x):
        """Return x', the label of x, and whether x is discriminatory (Algorithm 2, Equation 3)."""
        outputs = self.answer(x)
        label, found, best, largest = outputs.argmax(), False, x, -1.0
        for word in dict.fromkeys(x[self.subject.is_value[x]].tolist()):
            for value in self.subject.values[self.subject.values != word]:
                other = np.where(x == word, value, x)
                answer = self.answer(other)
                flips = answer.argmax() != label
                difference = abs(float(answer[label]) - float(outputs[label]))
                if flips > found or (flips == found and difference > largest):
                    found, best, largest = flips, other, difference
        return best, label, bool(found)

    def walk(self, x, draws):
        """Walk from x (Algorithms 7, 8 and 10); return which hops came to discriminatory texts."""
        x, found = x.copy(), []
        other, label, _ = self.partner(x)
        for way, which in draws:
            free = np.flatnonzero(self.subject.is_free[x])
            g, h = self.gradient(x, label), self.gradient(other, label)
            weights = 1 / (np.abs(g[free]).max(axis=1).astype(float) + np.abs(h[free]).max(axis=1))
            a = free[min(np.searchsorted(np.cumsum(weights) / weights.sum(), way, "right"), len(free) - 1)]
            x[a] = self.subject.neighbours[x[a], int(which * self.subject.n_neighbours[x[a]])]
            other, label, is_found = self.partner(x)
            found.append(is_found)
        return np.array(found)


def walk_texts(subject, starts, draws):
    search = OneByOne(subject)
    return np.stack([search.walk(x, numbers) for x, numbers in zip(starts, draws, strict=True)])


def walk_walks(subject, starts, draws):
    """Make one walk after the other; all variants of a text are asked about at once."""
    alone = (starts.take([i]) for i in range(len(starts)))
    found = [
        search_locally(subject, start, draws.shape[1], True, draws[[i]]) for i, start in enumerate(alone)
    ]
    return np.concatenate([search.discriminatory for search in found])


def walk_all(subject, starts, draws):
    return search_locally(subject, starts, draws.shape[1], True, draws).discriminatory


def clock(function, *arguments):
    """Return the seconds that a call takes, and what it returns."""
    start = time.perf_counter()
    done = function(*arguments)
    return time.perf_counter() - start, done


def report_hops(kind, feature):
    """Print hops a second of three ways to organise the same walks."""
    subject, texts = make_subject(kind, VALUES[feature])
    draws = draw_numbers(4, "hops", np.arange(SEEDS), HOPS)
    few, few_draws = texts.take(np.arange(ALONE)), draws[:ALONE, :HOPS_ALONE]
    walk_all(subject, few, few_draws)  # compiles
    alone_time, alone = clock(walk_texts, subject, few, few_draws)
    one_time, one = clock(walk_walks, subject, few, few_draws)
    subject.model.reset()
    all_time, found = clock(walk_all, subject, texts, draws)
    assert np.array_equal(alone, found[:ALONE, :HOPS_ALONE])
    assert np.array_equal(one, alone)
    rates = (alone.size / alone_time, one.size / one_time, found.size / all_time)
    outside = 1 - (subject.model.query_time + subject.model.gradient_time) / all_time
    print(
        f"  {kind:5}{feature:9}{rates[0]:10.0f}{rates[1]:12.0f}{rates[2]:12.0f}"
        f"{rates[2] / rates[0]:12.0f}{rates[2] / rates[1]:10.1f}{100 * outside:12.1f}"
    )


def find(subject, texts, name):
    """Search seeds, some at a time, until enough different texts are found; return how many."""
    finds = []
    for begin in range(0, len(texts), PART):
        numbers = np.arange(begin, min(begin + PART, len(texts)))
        seeds, draws = texts.take(numbers), draw_numbers(5, f"global {name}", numbers, MAX_ITER)
        search = search_globally(subject, seeds, find_strategy(name), draws)
        rows = found.starts_of(search)
        starts = search.texts.take(rows)
        local_draws = draw_numbers(5, f"local {name}", numbers[rows], HOPS_OF_FINDS)
        walks = search_locally(subject, starts, HOPS_OF_FINDS, name != "rp", local_draws)
        finds += [starts, found.local_finds(walks, numbers[rows]).texts]
        n_found = len(found.distinct(concatenate(finds)))
        if n_found >= WANTED:
            break
    return n_found


def report_finds(kind, feature):
    """Print what the wanted number of discriminatory texts costs by RP and by ADF_ASC (Table XI)."""
    subject, texts = make_subject(kind, VALUES[feature])
    raw = check(subject, texts).discriminatory.mean()
    find(subject, texts.take(np.arange(3)), "adf_asc")
    for name in ("rp", "adf_asc"):
        subject.model.reset()
        seconds, n_found = clock(find, subject, texts, name)
        model = subject.model
        seconds *= WANTED / max(1, n_found)
        gradient = 1e6 * model.gradient_time / max(1, model.n_gradients)
        query = 1e6 * model.query_time / model.n_queries
        cost = (model.n_queries / n_found, model.n_gradients / n_found)
        print(
            f"  {kind:5}{feature:9}{find_strategy(name).title:9}{100 * raw:6.0f}{n_found:8d}{seconds:10.2f}"
            f"{cost[0]:12.1f}{cost[1]:12.1f}{query:11.2f}{gradient:11.2f}"
        )


def main():
    set_threads(1)
    print(f"Walks by ADF around {SEEDS} texts of {LENGTH} words, {HOPS} hops, one thread; hops a second:")
    print(
        "                 one text    one walk   lock-step   times text  times walk   % outside the network"
    )
    for kind in KINDS:
        for feature in VALUES:
            report_hops(kind, feature)
    print("  goal: at least 25 times as many hops a second as one text at a time, each asked about once")
    print(f"Seconds for {WANTED} different discriminatory texts, both phases, and what each text costs:")
    print("                        % raw   found   seconds     queries   gradients   us/query us/gradient")
    for kind in KINDS:
        for feature in VALUES:
            report_finds(kind, feature)


if __name__ == "__main__":
    main()
