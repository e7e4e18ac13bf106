"""Fairer networks by continued training with discriminatory samples (Zhang et al. 2021, RQ4, Table XII).

The paper adds a random 5% of a tester's finds to the data and retrains. It does not state the labels of added
samples, whether both members of a pair are added, or how long training continues. Here:

- training continues from the tested network, for a fixed number of steps of Adam, at a rate that decreases in
  `STAGES` equal stages towards zero;
- half of each batch are rows of the data and half are added samples, in separate passes, so that neither
  dominates if there are few rows or many finds;
- a sample is added together with its partner (other protected values and another label), and both get the
  same label. The added pairs thus state that protected attributes do not matter.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import mode
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from biaslab.classifiers.networks import Network
from biaslab.classifiers.training import BATCH, Standardisation, Training, train
from biaslab.core.io import read_npz, write_tsv
from biaslab.core.jit import set_threads
from biaslab.core.rng import stream
from biaslab.fairness_testing.cases import DATA, Case, load_cases, load_found
from biaslab.fairness_testing.settings import CONTROL, NO_RULE
from biaslab.fairness_testing.testers.contract import Subject, check, discriminatory_share
from biaslab.fairness_testing.testers.registry import paper_testers

MAJORITY, MODEL, ENSEMBLE = LABEL_RULES = ("majority", "model", "ensemble")
"""The rules for labels of added samples: see `added_labels`."""
N_OTHER_RULES = 2
"""The number of retrainings by each label rule except the first, to show the effect of the rule."""
STAGES = 10
ENSEMBLE_STEPS = 2000  # the number of training batches of an ensemble's network


STEPS, LEARNING_RATE = 8000, 0.005  # the number of batches, and Adam's rate at the first batch


class Ensemble:
    """A voting ensemble of a random forest, naive Bayes and another network, fitted to samples and labels."""

    def __init__(self, X: np.ndarray, y: np.ndarray, seed: int) -> None:
        state = int(stream(seed, "ensemble").integers(2**31))
        forest = RandomForestClassifier(50, min_samples_leaf=5, random_state=state)
        self._classifiers = [classifier.fit(X, y) for classifier in (forest, GaussianNB())]
        epochs = -(-ENSEMBLE_STEPS * BATCH // len(X))
        self._network = train(X, y, max(2, int(y.max()) + 1), epochs=epochs, seed=state)

    def votes(self, X: np.ndarray) -> np.ndarray:
        """Return the labels of each classifier, (n, 3) int64."""
        return np.stack([*(c.predict(X) for c in self._classifiers), self._network.labels(X)], axis=1)

    def labels(self, X: np.ndarray) -> np.ndarray:
        """Return the label of most classifiers, (n,) int64; the smallest label if tied."""
        return mode(self.votes(X), axis=1).mode


def added_labels(
    rule: str, subject: Subject, samples: np.ndarray, ensemble: Ensemble | None = None
) -> np.ndarray:
    """Return the labels of added samples, (n,) int64: of the model, of the ensemble, or of the majority.

    ``majority`` is the network's most frequent label over all protected values; ties go to the label with the
    highest mean probability over these values.
    """
    if rule == MODEL:
        return subject.model.labels(samples)
    if rule == ENSEMBLE:
        return ensemble.labels(samples)
    network, variants = subject.model, subject.protected.variants(samples)
    n, m, d = variants.shape
    probabilities = network.probabilities(variants.reshape(n * m, d)).reshape(n, m, -1)
    counts = (probabilities.argmax(axis=2)[:, :, None] == np.arange(network.n_classes)).sum(axis=1)
    is_most_frequent = counts == counts.max(axis=1, keepdims=True)
    return np.where(is_most_frequent, probabilities.mean(axis=1), -1.0).argmax(axis=1)


def retrain(
    subject: Subject,
    X: np.ndarray,
    y: np.ndarray,
    found: np.ndarray,
    *,
    label_rule: str,
    repetition: int,
    seed: int,
    share: float = 0.0,
    ensemble: Ensemble | None = None,
) -> Network:
    """Continue training a network with its data and a share of a tester's finds (Section 4.2, RQ4).

    Repetition and seed determine the added samples, for every label rule, and the batches. With `NO_RULE`,
    nothing is added, with the same steps and rates: the control of retraining, because continued training
    alone moves the boundary between labels.
    """
    rng = stream(seed, "retraining", repetition)
    samples, labels = X[:0], y[:0]
    if label_rule != NO_RULE:
        samples = found[np.sort(rng.choice(len(found), n_added(found, share), replace=False))]
        labels = added_labels(label_rule, subject, samples, ensemble)
        samples, labels = with_partners(subject, samples, labels)
    standard = Standardisation.of(X)
    training = Training(standard.unfold(subject.model))
    inputs = standard.inputs(np.concatenate([X, samples]))
    targets = np.concatenate([y, labels]).astype(np.int64)
    batches = mixed_batches(len(X), len(samples), STEPS, rng)
    for stage, part in enumerate(np.array_split(batches, STAGES)):
        training.run(inputs, targets, part.ravel(), LEARNING_RATE * (1 - stage / STAGES))
    return standard.fold(training.network)


def n_added(found: np.ndarray, share: float) -> int:
    """Return the number of found samples to draw, at least one."""
    return max(1, round(share * len(found)))


Retrained = tuple[str, int, int, Network]
"""Label rule, repetition, number of added samples, and the retrained network."""


def retraining_table(
    subject: Subject, X: np.ndarray, y: np.ndarray, uniform: np.ndarray, networks: Iterable[Retrained]
) -> pd.DataFrame:
    """Return fairness and accuracy before and after retraining (Table XII)."""

    def measure(subject: Subject) -> dict[str, float]:
        return {
            "accuracy": subject.model.accuracy(X, y),
            "share": discriminatory_share(subject, uniform),
            "data_share": discriminatory_share(subject, X),
        }

    before, rows = measure(subject), []
    for *row, network in networks:
        after = measure(replace(subject, model=network))
        rows.append(row + [quality[measure] for measure in before for quality in (before, after)])
    columns = [f"{measure}_{when}" for measure in before for when in ("before", "after")]
    return pd.DataFrame(rows, columns=["label_rule", "repetition", "n_added", *columns])


def with_partners(subject: Subject, samples: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return samples and labels, followed by the samples' partners with the same labels."""
    protected, partners = subject.protected, check(subject, samples).partners
    has_partner = partners >= 0  # a sample found with values outside the domain may have no partner inside
    others = samples[has_partner]
    others[:, protected.columns] = protected.values[partners[has_partner]]
    return np.concatenate([samples, others]), np.concatenate([labels, labels[has_partner]])


def mixed_batches(n_data: int, n_added: int, n_batches: int, rng: np.random.Generator) -> np.ndarray:
    """Return rows for batches, (n_batches, BATCH) int64: half from the data, half from any added rows."""
    if not n_added:
        return _passes(n_data, n_batches * BATCH, rng).reshape(n_batches, BATCH)
    half = n_batches * (BATCH // 2)
    of_data, of_added = (_passes(n, half, rng).reshape(n_batches, -1) for n in (n_data, n_added))
    return np.concatenate([of_data, n_data + of_added], axis=1)


def _passes(n: int, n_rows: int, rng: np.random.Generator) -> np.ndarray:
    """Return row indices, (n_rows,) int64, of repeated passes over n rows, each pass in a new order."""
    return np.concatenate([rng.permutation(n) for _ in range(-(-n_rows // n))])[:n_rows]


@dataclass(frozen=True)
class Effort:
    """The effort of retraining; see ``fairness_testing`` in the configuration."""

    retrainings: int
    share: float
    uniform_samples: int
    seed: int


def retrain_classifier(
    folder: Path, schema: Path, found: Path, effort: Effort, retraining: Path, threads: int = 1
) -> None:
    """Retrain with the finds of each tester, and write fairness and accuracy after retraining."""
    set_threads(threads)
    y, cases = read_npz(folder / DATA)["y"], list(load_cases(folder, schema))
    of_first = cases[0].subject, cases[0].X, y, cases[0].X[:0]  # independent of the protected attributes
    nothing = [
        (NO_RULE, k, 0, retrain(*of_first, label_rule=NO_RULE, repetition=k, seed=effort.seed))
        for k in range(effort.retrainings)
    ]
    tables = [
        retrain_case(case, y, load_found(found, case.attribute, paper_testers()), effort, nothing)
        for case in cases
    ]
    write_tsv(retraining, pd.concat(tables, ignore_index=True))


def retrain_case(
    case: Case, y: np.ndarray, found: Mapping[str, np.ndarray], effort: Effort, nothing: Sequence[Retrained]
) -> pd.DataFrame:
    """Retrain with the finds of every tester; for the paper's tester, by every label rule."""
    rng = stream(effort.seed, "retraining", "uniform", case.attribute)
    uniform = case.subject.domain.draw(effort.uniform_samples, rng)
    of_case = case.subject, case.X, y
    tables = [retraining_table(*of_case, uniform, nothing).assign(tester=CONTROL)]
    testers = sorted(paper_testers().values(), key=lambda tester: tester.is_proposed)  # the paper's own last
    runs = [(t.name, LABEL_RULES[:1], effort.retrainings) for t in testers if t.is_retrained]
    n_others = min(N_OTHER_RULES, effort.retrainings)
    runs += [(t.name, LABEL_RULES[1:], n_others) for t in testers if t.is_proposed]
    for tester, rules, repetitions in runs:
        if not len(found[tester]):
            continue
        ensemble = Ensemble(case.X, y, effort.seed) if ENSEMBLE in rules else None
        options = {"seed": effort.seed, "share": effort.share, "ensemble": ensemble}
        networks = [
            (
                rule,
                k,
                n_added(found[tester], effort.share),
                retrain(*of_case, found[tester], label_rule=rule, repetition=k, **options),
            )
            for rule in rules
            for k in range(repetitions)
        ]
        tables.append(retraining_table(*of_case, uniform, networks).assign(tester=tester))
    return case.named(pd.concat(tables, ignore_index=True), "retraining")
