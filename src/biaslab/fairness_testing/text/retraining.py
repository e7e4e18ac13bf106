"""Fairer networks by retraining with discriminatory texts (Zhang et al. 2021, RQ4, Tables XIII and XIV).

A random 5% of the texts found from the training texts are added to the training texts, and the network is
retrained. The improvement is measured on texts that were found independently from the test texts: the share
that is no longer discriminatory. The paper does not state the label of an added text, whether its partner is
also added, or where training starts. Here the first two are options, and training starts over with a new
seed.

Retraining moves the boundary between labels even without added texts, and found texts are close to the
boundary. A retraining without added texts from the same seed is therefore the control for every improvement.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.io import write_tsv
from biaslab.core.rng import stream
from biaslab.fairness_testing.settings import CERTIFIED, CONTROL, PROPOSED
from biaslab.fairness_testing.text.corpus import (
    PARTS,
    TEST,
    TRAIN,
    Labelled,
    Prepared,
    load_prepared,
    measure_quality,
)
from biaslab.fairness_testing.text.discrimination import (
    TextSubject,
    answer_variants,
    check,
    labels_of,
    probabilities,
)
from biaslab.fairness_testing.text.experiment import RETRAINED, Case, cases, found_texts, seed_of
from biaslab.fairness_testing.text.search import Finds, draw_rows, load_finds
from biaslab.text.models import TextModel
from biaslab.text.recurrent import Recurrent, initial_recurrent
from biaslab.text.recurrent_training import TrainingSettings, train_recurrent
from biaslab.text.words import Texts, concatenate

MODEL, MAJORITY, DATA = LABEL_RULES = ("model", "majority", "data")
"""The rules for labels of added texts: see `label_found`."""
N_OTHERS = 1
"""The number of retrainings with each label rule except the majority, and with each other tester's finds."""
_NOTHING = Texts.of([])


def drawn(n_found: int, repetition: int, seed: int, share: float) -> np.ndarray:
    """Return the sorted rows of the added texts among the found texts: a share, at least one if any."""
    k = min(n_found, max(1, round(share * n_found)))
    return np.sort(stream(seed, "text retraining", repetition).choice(n_found, k, replace=False))


def label_found(
    subject: TextSubject, texts: Texts, rule: str, data_labels: np.ndarray | None = None
) -> np.ndarray:
    """Return the labels of added texts, (n,) int64: of the model, of the seeds of the search, or by majority.

    ``majority`` is the model's most frequent label over the text and its variants, as in Algorithm 2; ties go
    to the label of the text.
    """
    if rule == MODEL:
        return labels_of(probabilities(subject.model, texts))
    if rule == DATA:
        return data_labels
    labels = np.empty(len(texts), np.int64)
    for variants in answer_variants(subject, texts):
        y = variants.labels
        n_others = np.bincount(variants.origins[variants.flips], minlength=len(y))
        n_votes = 1 + np.diff(variants.offsets)
        labels[variants.rows] = np.where(2 * n_others > n_votes, 1 - y, y)
    return labels


def with_partners(subject: TextSubject, texts: Texts, labels: np.ndarray) -> tuple[Texts, np.ndarray]:
    """Return texts and labels, followed by the texts' partners (`discrimination.Check`) with equal labels."""
    return concatenate([texts, check(subject, texts).partners]), np.concatenate([labels, labels])


def retrain(
    model: Recurrent,
    train: Labelled,
    validation: Labelled | None,
    added: Texts,
    added_labels: np.ndarray,
    settings: TrainingSettings,
    seed: int,
) -> Recurrent:
    """Retrain a network of equal type, size and vectors with added texts (Section 5.2, RQ4).

    With equal seeds, networks differ only by the added texts. Without added texts, the result is the control.
    """
    start = initial_recurrent(model.kind, model.vectors, seed, model.hidden, len(model.layers))
    texts, labels = train
    texts, labels = concatenate([texts, added]), np.concatenate([labels, added_labels]).astype(np.int64)
    return train_recurrent(start, texts, labels, settings, seed, validation)[0]


def compare(
    subject: TextSubject, retrained: TextModel, independent: Texts, test: Labelled
) -> dict[str, float]:
    """Return the effect of retraining (a row of Table XIII); improvement in percent, NaN without texts."""
    is_discriminatory = check(replace(subject, model=retrained), independent).discriminatory
    n, n_removed = len(is_discriminatory), int(np.sum(~is_discriminatory))
    row = {"n_independent": n, "n_removed": n_removed, "improvement": 100 * n_removed / n if n else np.nan}
    before, after = (measure_quality(model, test) for model in (subject.model, retrained))
    for name in ("accuracy", "f1"):
        row |= {f"{name}_before": before[name], f"{name}_after": after[name]}
    return row


def retrain_network(
    folder: Path,
    kind: str,
    retrainings: int,
    share: float,
    n_independent: int | None,
    training: TrainingSettings,
    seed: int,
) -> None:
    """Retrain the first training of a network with its finds: ``retraining.tsv``.

    Each found text is added with its partner x', as in retraining on tables. `n_independent` of the texts
    found on the test texts (None for all) measure the improvement. Each retraining has other texts and its
    own seed.
    """
    prepared, finds = load_prepared(folder), load_finds(folder / kind / "found.npz")
    rows, controls = [], {}
    train, validation, test = (prepared.parts[part] for part in PARTS)
    for case in cases(folder, kind, 1, prepared):
        independent = _independent(finds, case, n_independent, seed)
        for number in range(retrainings):
            of_seed = seed_of(seed, f"{kind} retraining", number)
            for tester, rule, texts, labels in _additions(case, prepared, finds, share, number, seed):
                if tester != CONTROL or number not in controls:
                    network = retrain(case.subject.model, train, validation, texts, labels, training, of_seed)
                if tester == CONTROL:  # independent of the tested feature
                    network = controls.setdefault(number, network)
                columns = {"model": kind, "feature": case.feature, "tester": tester, "label_rule": rule}
                measured = compare(case.subject, network, independent, test)
                rows.append(columns | {"repetition": number, "n_added": len(texts)} | measured)
    write_tsv(folder / kind / "retraining.tsv", pd.DataFrame(rows))


def certify_network(
    folder: Path, kind: str, epochs: int, n_independent: int | None, negative_weight: float, seed: int
) -> None:
    """Train a network certifiably for each feature: ``certified.tsv``."""
    from biaslab.fairness_testing.text.certified import CertifiedSettings, train_certified
    from biaslab.text.devices import make_deterministic

    make_deterministic(1)
    prepared, finds = load_prepared(folder), load_finds(folder / kind / "found.npz")
    settings = CertifiedSettings(epochs=epochs, negative_weight=negative_weight)
    train, validation, test = (prepared.parts[part] for part in PARTS)
    rows = []
    for case in cases(folder, kind, 1, prepared):
        subject = case.subject
        of_seed = seed_of(seed, f"{kind} certified {case.feature}", 0)
        network = train_certified(subject, train, validation, settings, of_seed)
        independent = _independent(finds, case, n_independent, seed)
        columns = {"model": kind, "feature": case.feature, "tester": CERTIFIED, "label_rule": ""}
        measured = compare(subject, network, independent, test)
        rows.append(columns | {"repetition": 0, "n_added": 0} | measured)
    write_tsv(folder / kind / "certified.tsv", pd.DataFrame(rows))


def _additions(
    case: Case, prepared: Prepared, found: Mapping[str, Finds], share: float, number: int, seed: int
) -> Iterator[tuple[str, str, Texts, np.ndarray]]:
    """Yield the additions of a retraining: tester, label rule, texts and labels; the empty control first."""
    yield CONTROL, "", _NOTHING, np.empty(0, np.int64)
    for tester in RETRAINED:
        finds = found_texts(found, TRAIN, case.feature, case.number, tester)
        finds = finds.take(drawn(len(finds), number, seed, share))
        of_seeds = prepared.parts[TRAIN].labels[finds.origins]
        rules = LABEL_RULES if tester == PROPOSED and number < N_OTHERS else (MAJORITY,)
        for rule in rules if tester == PROPOSED or number < N_OTHERS else ():
            labels = label_found(case.subject, finds.texts, rule, of_seeds)
            yield tester, rule, *with_partners(case.subject, finds.texts, labels)


def _independent(found: Mapping[str, Finds], case: Case, n: int | None, seed: int) -> Texts:
    """Return texts that the proposed tester found on the test texts, at most n."""
    texts = found_texts(found, TEST, case.feature, case.number, PROPOSED).texts
    return texts.take(draw_rows(len(texts), n, seed, "independent texts", case.kind, case.feature))
