"""EIDIG against ADF in equal seconds of one core: different discriminatory samples, in one run, by turns."""

import time

from biaslab.classifiers.domain import Protected
from biaslab.classifiers.schema import load_schema
from biaslab.core.jit import set_threads
from biaslab.fairness_testing.settings import PAPER, PUBLISHED
from biaslab.fairness_testing.testers.contract import Subject, Task, collect
from biaslab.fairness_testing.testers.registry import find_tester
from fairness_testing import ATTRIBUTE, SCHEMA, SEEDS, load

import numpy as np

SECONDS, ROUNDS, HOPS, PART = 2.0, 3, 1000, 40


def find(subject, seeds, tester, mode, seed):
    """Return how many different discriminatory samples a tester finds until the time is over."""
    task = Task(subject, seeds, seeds, len(seeds), seed, HOPS, part_seeds=PART)
    parts, began = [], time.process_time()
    for part in tester.search(task, tester.settings(mode)):
        if time.process_time() - began > SECONDS:
            break
        parts.append(part)
    if not parts:
        return 0
    return collect(parts).joined().count(subject.protected).n_discriminatory


def main():
    """Print ratios; every round has all testers one after the other, and its own order of the seeds."""
    set_threads(1)
    schema = load_schema(SCHEMA)
    network, seeds, what = load(schema.domain, schema)
    for attributes in ([ATTRIBUTE], ["age"], ["age", "race"]):
        columns = schema.domain.columns(attributes)
        subject = Subject(network, schema.domain, Protected.of(schema.domain, columns))
        for name in ("adf", "eidig-5"):  # compiles and loads what is needed
            find(subject, seeds[:PART], find_tester(name), PAPER, 0)
        print(f"{what}, {','.join(attributes)}: {SECONDS:g} s of one core each, {ROUNDS} rounds, {HOPS} hops")
        for mode in (PUBLISHED, PAPER):
            found = {"adf": [], "eidig-5": [], "eidig-inf": []}
            for number in range(ROUNDS):
                order = np.random.default_rng(number).permutation(SEEDS)
                for name, counts in found.items():
                    counts.append(find(subject, seeds[order], find_tester(name), mode, number))
            for name in ("eidig-5", "eidig-inf"):
                ratios = np.array(found[name]) / found["adf"]
                low, middle, high = ratios.min(), np.median(ratios), ratios.max()
                print(f"  {mode:9}  {name:9}  / ADF  {middle:5.2f}  ({low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()
