"""Samples that somebody brings, judged: which are discriminatory, and by which attribute."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from biaslab.classifiers.encoding import Samples, decode
from biaslab.classifiers.schema import Schema
from biaslab.core.rng import stream
from biaslab.fairness_testing import suites
from biaslab.fairness_testing.testers import trails
from biaslab.fairness_testing.testers.discrimination import are_discriminatory, check_batches
from biaslab.fairness_testing.testers.subject import Subject

MIN_SAMPLES = 10
"""With fewer samples, even an interval for a share that is zero reaches beyond a quarter."""


def judge(subject: Subject, samples: Samples, schema: Schema) -> pd.DataFrame:
    """Return the label of every sample, and the first combination of protected values with another one."""
    found = list(check_batches(subject, samples.X))
    labels, flips, answers = (
        np.concatenate([getattr(part, name) for part in found])
        for name in ("labels", "flips", "variant_labels")
    )
    is_found, first = flips.any(axis=1), flips.argmax(axis=1)
    classes, values = np.array(schema.classes, object), value_names(subject, schema)
    table = {
        "line": samples.lines,
        "label": classes[labels],
        "discriminatory": np.where(is_found, "yes", "no"),
        "n_values": flips.shape[1],
        "n_other": flips.sum(axis=1),
        "other_value": np.where(is_found, values[first], ""),
        "other_label": np.where(is_found, classes[answers[np.arange(len(first)), first]], ""),
        "outside": np.where(subject.domain.contains(samples.X), "no", "yes"),
    }
    return pd.DataFrame(table)


def summarize(
    subject: Subject, samples: Samples, schema: Schema, data: np.ndarray | None, seed: int
) -> dict[str, float]:
    """Count what is discriminatory, and describe these samples beside data.

    n_samples and n_discriminatory count samples that differ but for protected attributes. With data, (N, d)
    int32, `suites.MEASURES` describe the different discriminatory ones, by `suites.Reference`.
    """
    X = samples.X
    is_found = are_discriminatory(subject, X)
    classes = trails.classes(X, subject.protected)
    first = np.unique(classes[is_found], return_index=True)[1]
    n_samples, n_found = len(np.unique(classes)), len(first)
    row = {
        "n_rows": len(X),
        "n_discriminatory_rows": int(is_found.sum()),
        "n_samples": n_samples,
        "n_discriminatory": n_found,
        "share": n_found / n_samples,
    }
    if data is None:
        return row
    space = suites.Space.of(schema, subject.free)
    reference = suites.Reference.of(space, data, stream(seed, "suites", "reference"))
    described = reference.describe(X[is_found][np.sort(first)], stream(seed, "suites", "judged"))
    return row | {name: described[name] for name in suites.MEASURES}


def no_all_clear(labels: np.ndarray, X: np.ndarray, schema: Schema, groups: Sequence[Sequence[str]]) -> str:
    """Return why finding nothing in data would say little of a classifier; "" where it says something."""
    reasons = []
    if len(X) < MIN_SAMPLES:
        reasons.append(f"there {'is one sample' if len(X) == 1 else f'are {len(X)} samples'}")
    if len(set(labels.tolist())) == 1:
        reasons.append(f"the classifier calls all of them {schema.classes[labels[0]]}")
    for names in groups:
        if len(np.unique(X[:, schema.domain.columns(names)], axis=0)) == 1:
            reasons.append(f"all of them have the same {' and '.join(names)}")
    return f"No all-clear: {'; '.join(reasons)}." if reasons else ""


def value_names(subject: Subject, schema: Schema) -> np.ndarray:
    """Return the words of every combination of protected values, (m,) object."""
    values = subject.protected.values
    X = np.tile(subject.domain.low, (len(values), 1))
    X[:, subject.protected.columns] = values
    words = decode(X, schema).iloc[:, list(subject.protected.columns)].to_numpy(object)
    return np.array([", ".join(row) for row in words], object)
