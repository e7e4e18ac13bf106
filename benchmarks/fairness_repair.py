"""Repair of the authors' networks by retraining with ADF's finds, against retraining with nothing added.

On the six settings of Zhang et al. 2021: individual and group fairness beside accuracy, as
`biaslab.fairness_testing.repair` measures them. Called with a file, the table goes there.
"""

import sys
from pathlib import Path

from biaslab.core.io import write_tsv
from biaslab.core.jit import set_threads
from biaslab.core.rng import stream
from biaslab.core.stats import mean_interval
from biaslab.fairness_testing.names import PAPER
from biaslab.fairness_testing.repair import BEFORE, CONTROL, MEASURES, REPAIRED, repair_table
from biaslab.fairness_testing.testers.adf import TESTER, search
from biaslab.fairness_testing.testers.contract import Task, collect
from biaslab.fairness_testing.testers.subject import Subject
from biaslab.fairness_testing.testers.trails import distinct_discriminatory
from fairness_league import DATA, load

import numpy as np
import pandas as pd

HOPS, N_UNIFORM, REPETITIONS, SEED = 100, 20_000, 5, 1
NAMES = {
    BEFORE: "as published",
    CONTROL: "retrained, nothing added",
    REPAIRED: "retrained, finds added",
}


def shown(values):
    """Write the mean of shares in percent with half the width of its 95% interval (Student's t)."""
    values = 100 * np.array(values)
    low, high = mean_interval(values)
    return f"{values.mean():.2f}" + ("" if np.isnan(low) else f" ± {(high - low) / 2:.2f}")


def main():
    """Repair every setting's network, and print or write the table."""
    set_threads(1)
    rows = []
    for name in DATA:
        schema, X, y, seeds, network = load(name)
        for attribute in schema.protected:
            subject = Subject(network, schema.domain, schema.protect([attribute]))
            task = Task(subject, X, seeds, len(seeds), HOPS, n_explored=0, n_drawn=0, seed=SEED)
            trail = collect(search(task, TESTER.settings(PAPER))).joined()
            found = distinct_discriminatory(trail, subject.protected)
            uniform = schema.domain.draw(N_UNIFORM, stream(SEED, "repair", name, attribute))
            table = repair_table(
                subject, X, y, found, uniform, favourable=1, repetitions=REPETITIONS, seed=SEED
            )
            for kind, title in NAMES.items():
                part = table[table["network"] == kind]
                row = {"data": name, "protected": attribute, "network": title}
                rows.append(row | {measure: shown(part[measure]) for measure in MEASURES})
                print(*rows[-1].values(), sep="\t", flush=True)
            both = [table[table["network"] == kind].set_index("repetition") for kind in (REPAIRED, CONTROL)]
            row = {"data": name, "protected": attribute, "network": "finds less nothing"}
            rows.append(row | {measure: shown(both[0][measure] - both[1][measure]) for measure in MEASURES})
    if len(sys.argv) > 1:
        write_tsv(Path(sys.argv[1]), pd.DataFrame(rows))


if __name__ == "__main__":
    main()
