"""What retraining makes of a network that was searched (Tables XIII and XIV), and certified training."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from biaslab.core.io import write_tsv
from biaslab.core.rng import stream
from biaslab.fairness_testing.text import retraining as science
from biaslab.fairness_testing.text.corpus import (
    PARTS,
    TEST,
    TRAIN,
    Labelled,
    Prepared,
    load_prepared,
)
from biaslab.fairness_testing.text.experiment import seed_of
from biaslab.fairness_testing.text.finds import Finds, key, load_finds
from biaslab.fairness_testing.text.names import CERTIFIED, CONTROL, PROPOSED
from biaslab.fairness_testing.text.search_experiment import (
    ADF,
    GLOBAL,
    LOCAL,
    RETRAINED,
    Case,
    cases,
)
from biaslab.fairness_testing.text.trails import distinct
from biaslab.text.recurrent_training import TrainingSettings
from biaslab.text.words import Texts, concatenate

N_OTHERS = 1
"""Retrainings by each other label rule than the majority, and with what each other tester found."""
_NOTHING = Texts.of([])


def retrain_network(
    folder: Path,
    kind: str,
    retrainings: int,
    share: float,
    n_independent: int | None,
    training: TrainingSettings,
    seed: int,
) -> None:
    """Retrain the first training of a network with what was found: ``retraining.tsv``.

    The proposed tester's texts are labelled by the majority, and in `N_OTHERS` retraining also by the other
    rules; the other testers' by the majority, in as many. Each found text is added together with its partner
    x', as in the retraining on tables. (A first run without the partners had been seen when this was chosen:
    it was above the control for one of two features.) `share` of the texts found on the training texts are
    added; `n_independent` of those found on the test texts (None for all) measure improvement. Each
    retraining has other texts, and a seed of its own.
    """
    prepared, found = load_prepared(folder), load_finds(folder / kind / "found.npz")
    rows, controls = [], {}
    train, validation, test = (_pair(prepared.parts[part]) for part in PARTS)
    for case in cases(folder, kind, 1, prepared):
        independent = _independent(found, case, n_independent, seed)
        for number in range(retrainings):
            of_seed = seed_of(seed, f"{kind} retraining", number)
            for tester, rule, texts, labels in _additions(case, prepared, found, share, number, seed):
                if tester != CONTROL or number not in controls:
                    network = science.retrain(
                        case.subject.model, train, validation, texts, labels, training, of_seed
                    )
                if tester == CONTROL:  # the same whatever feature is tested
                    network = controls.setdefault(number, network)
                columns = {"model": kind, "feature": case.feature, "tester": tester, "label_rule": rule}
                measured = science.outcome(case.subject, network, independent, test)
                rows.append(columns | {"repetition": number, "n_added": len(texts)} | measured)
    write_tsv(folder / kind / "retraining.tsv", pd.DataFrame(rows))


def certify_network(
    folder: Path, kind: str, epochs: int, n_independent: int | None, negative_weight: float, seed: int
) -> None:
    """Train a network certifiably for each feature: ``certified.tsv``."""
    from biaslab.fairness_testing.text.certified import CertifiedSettings, train_certified
    from biaslab.text.devices import make_deterministic

    make_deterministic(1)
    prepared, found = load_prepared(folder), load_finds(folder / kind / "found.npz")
    settings = CertifiedSettings(epochs=epochs, negative_weight=negative_weight)
    train, validation, test = (_pair(prepared.parts[part]) for part in PARTS)
    rows = []
    for case in cases(folder, kind, 1, prepared):
        subject = case.subject
        of_seed = seed_of(seed, f"{kind} certified {case.feature}", 0)
        protected = (subject.is_value, subject.values)
        network = train_certified(subject.model, train, validation, *protected, settings, of_seed)
        independent = _independent(found, case, n_independent, seed)
        columns = {"model": kind, "feature": case.feature, "tester": CERTIFIED, "label_rule": ""}
        measured = science.outcome(subject, network, independent, test)
        rows.append(columns | {"repetition": 0, "n_added": 0} | measured)
    write_tsv(folder / kind / "certified.tsv", pd.DataFrame(rows))


def _additions(
    case: Case, prepared: Prepared, found: Mapping[str, Finds], share: float, number: int, seed: int
) -> Iterator[tuple[str, str, Texts, np.ndarray]]:
    """Yield what a retraining adds: tester, label rule, texts and their labels; first nothing."""
    yield CONTROL, "", _NOTHING, np.empty(0, np.int64)
    for tester in RETRAINED:
        finds = found_texts(found, TRAIN, case.feature, case.number, tester)
        finds = finds.take(science.drawn(len(finds), number, seed, share))
        of_seeds = prepared.parts[TRAIN].labels[finds.origins]
        rules = science.LABEL_RULES if tester == PROPOSED and number < N_OTHERS else (science.MAJORITY,)
        for rule in rules if tester == PROPOSED or number < N_OTHERS else ():
            labels = science.label_found(case.subject, finds.texts, rule, of_seeds)
            yield tester, rule, *science.with_partners(case.subject, finds.texts, labels)


def _independent(found: Mapping[str, Finds], case: Case, n: int | None, seed: int) -> Texts:
    """Return texts that the proposed tester found on the test texts, at most n."""
    texts = found_texts(found, TEST, case.feature, case.number, PROPOSED).texts
    if n is None or len(texts) <= n:
        return texts
    rng = stream(seed, "independent texts", case.kind, case.feature)
    return texts.take(np.sort(rng.choice(len(texts), n, replace=False)))


def found_texts(found: Mapping[str, Finds], part: str, feature: str, number: int, tester: str) -> Finds:
    """Return what both phases found on a part of the corpus, on one training, each text once."""
    local = ADF if part == TEST else tester
    both = [found[key(part, feature, number, phase, of)] for phase, of in ((GLOBAL, tester), (LOCAL, local))]
    joined = Finds(
        np.concatenate([finds.origins for finds in both]),
        concatenate([finds.texts for finds in both]),
        concatenate([finds.partners for finds in both]),
    )
    return joined.take(distinct(joined.texts))


def _pair(part: Labelled) -> tuple[Texts, np.ndarray]:
    return part.texts, part.labels
