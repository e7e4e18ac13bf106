"""Cost per document of each estimator alone and of the PPMI scan, one test and embedding, in one run."""

import time

import bench_corpus
from biaslab.bias.weat import weat_words
from biaslab.core.jit import parallel_reassociating_kernel, prange, set_threads
from biaslab.core.rng import stream
from biaslab.embeddings import cooccurrence, glove
from biaslab.origins.attribution import _kernels, influence
from biaslab.origins.attribution import ppmi as ppmi_scan
from biaslab.origins.attribution.influence import places_in_test
from differential_bias import DIMENSION, EPOCHS, tests_for
from ppmi_scan import compile_kernels

import numpy as np

THREADS = 1  # processor time is measured: other work on the machine does not count


@parallel_reassociating_kernel
def gradient_alone(removals, loss, out):
    """Compute the estimator ``gradient`` as `_kernels.differential_bias` does, and nothing else."""
    for p in prange(out.shape[0]):
        first, last = removals.unit_starts[p], removals.unit_starts[p + 1]
        score = 0.0
        for e in range(removals.entry_starts[first], removals.entry_starts[last]):
            score += loss.bias_gradient[removals.places[e]] * removals.counts[e]
        out[p] = score / loss.unit


@parallel_reassociating_kernel
def step_alone(newton, removals, loss, test, out):
    """Compute ``newton``, or ``influence`` when it is false, as `_kernels.differential_bias` does."""
    dimension = test.W.shape[1]
    before = _kernels.perturbed_effect_size(np.empty(0, np.int32), np.empty((0, dimension)), test)
    for p in prange(out.shape[0]):
        first, last = removals.unit_starts[p], removals.unit_starts[p + 1]
        steps = np.empty((last - first, dimension))
        for k in range(last - first):
            row = removals.slots[first + k]
            low, high = removals.entry_starts[first + k], removals.entry_starts[first + k + 1]
            entries, drops, change = removals.places[low:high], np.empty(high - low), np.empty(dimension)
            _kernels.gradient_change(loss, entries, removals.counts[low:high], drops, change)
            _kernels.influence_step(loss.inverse[row], change, steps[k])
            if newton:
                changed = drops > 0.0
                entries, drops = entries[changed], drops[changed]
                if entries.shape[0] < dimension:
                    _kernels.newton_step_narrow(entries, drops, loss.columns, loss.U, loss.Z, steps[k])
                else:
                    _kernels.newton_step_wide(
                        entries, drops, loss.columns, loss.U, loss.H[row], change, steps[k]
                    )
        out[p] = 0.0
        if last > first:
            out[p] = before - _kernels.perturbed_effect_size(removals.slots[first:last], steps, test)


class Scan:
    """One test and embedding, prepared so that each estimator can be run alone.

    Parameters
    ----------
    x : biaslab.embeddings.cooccurrence.Cooccurrence
        Counts of the corpus.
    tokens, offsets : numpy.ndarray
        The corpus.
    weat : biaslab.bias.word_sets.WeatIndices
        The test.
    embedding : dict
        ``W``, ``U``, ``b``, ``c``.
    """

    def __init__(self, x, tokens, offsets, weat, embedding):
        self.weat, self.embedding = weat, embedding
        self.rows = influence.weat_rows(x, weat_words(weat), 100.0, 0.75)
        self.removals = influence.removals_of_documents(self.rows, tokens, offsets)

    def prepare(self):
        """Compute what is needed once for all documents: Hessians, their inverses, the fit at every place."""
        self.loss = influence.local_loss(self.rows, self.weat, self.embedding, 0.0, None)

    def gradient(self):
        """Return the estimator ``gradient``, (n_documents,)."""
        out = np.empty(self.removals.n_units)
        gradient_alone(self.removals, self.loss, out)
        return out

    def step(self, newton):
        """Return the estimator ``newton``, or ``influence``, (n_documents,)."""
        W, out = self.embedding["W"][self.rows.words].astype(np.float64), np.empty(self.removals.n_units)
        vectors = W / np.linalg.norm(W, axis=1, keepdims=True)
        targets, weights = places_in_test(self.rows.words, self.weat)
        test = _kernels.TestVectors(W, vectors, weights @ vectors, targets, len(self.weat.S), weights)
        step_alone(newton, self.removals, self.loss, test, out)
        return out

    def check(self):
        """Compare each estimator with what the workflow computes in one pass."""
        together = influence.differential_bias(
            self.rows, self.removals, self.weat, self.embedding, threads=THREADS
        )
        alone = [self.step(False), self.step(True), self.gradient()]
        np.testing.assert_allclose(np.transpose(alone), together.values, rtol=1e-6, atol=1e-9)


def timed(function, *arguments):
    """Return how many seconds a call takes, the best of three."""
    times = []
    for _ in range(3):
        start = time.process_time()
        function(*arguments)
        times.append(time.process_time() - start)
    return min(times)


def main():
    tokens, offsets, words, name = bench_corpus.load()
    x = cooccurrence.count(tokens, offsets, len(words), 8, THREADS)
    clock = []
    parameters, tick = glove.GloveParameters(DIMENSION, 4), lambda: clock.append(time.process_time())
    trained = glove.train(x, parameters, stream(0), THREADS, progress=tick)
    training = EPOCHS * float(np.diff(clock).min())
    weat, n = tests_for(words)[0], len(offsets) - 1
    set_threads(THREADS)
    scan = Scan(x, tokens, offsets, weat, {key: getattr(trained, key) for key in ("W", "U", "b", "c")})
    scan.prepare()
    scan.check()  # compiles, too
    compile_kernels(tokens[: offsets[50]], offsets[:51], len(words))
    took = {
        "gradient": timed(scan.gradient),
        "influence": timed(scan.step, False),
        "newton": timed(scan.step, True),
        "ppmi": timed(ppmi_scan.differential_bias, x, tokens, offsets, weat, THREADS),
    }
    cheapest = min(took.values())
    print(f"cost per document: {name}, {n:,} documents, {weat.name}, {DIMENSION} dimensions, processor time")
    for estimator, seconds in took.items():
        print(
            f"  {estimator:<9} {1e6 * seconds / n:8.2f} us a document = {seconds / cheapest:7.1f} x the"
            f" cheapest; all: {seconds / training:.3%} of a training of {EPOCHS} epochs ({training:.0f} s)"
        )
    once = timed(scan.prepare) / cheapest
    print(f"  once for an embedding, but not for ppmi: Hessians, inverses and fit, {once:.1f} x")


if __name__ == "__main__":
    main()
