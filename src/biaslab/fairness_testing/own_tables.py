"""A user's table and classifier: checks, how they are read, and a search for discriminatory samples."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Self

import numpy as np
import pandas as pd

from biaslab.classifiers.adapters import adapt
from biaslab.classifiers.encoding import (
    MAX_GROUPS,
    MISSING,
    Data,
    Rows,
    as_table,
    count_by_group,
    decode,
    describe_trimmed,
    read_table,
    rounded_attributes,
)
from biaslab.classifiers.foreign import import_object
from biaslab.classifiers.models import Model
from biaslab.classifiers.networks import Network, load_network, save_network
from biaslab.classifiers.schema import Category, Schema
from biaslab.classifiers.training import train
from biaslab.core.errors import InputError
from biaslab.core.stats import is_below_chance
from biaslab.core.values import check_values
from biaslab.fairness_testing.cases import N_CLUSTERS, cluster, take_turns
from biaslab.fairness_testing.settings import PAPER, TRAIN, Campaign
from biaslab.fairness_testing.testers.contract import (
    Phases,
    Subject,
    Task,
    Tester,
    collect,
    discriminatory_share,
    find_partners,
    uniform_fairness,
)

N_UNIFORM = 10_000
MIN_SAMPLES = 10  # with fewer samples, even the interval of a zero share extends beyond a quarter

Groups = Sequence[Sequence[str]]  # sets of protected attributes
Say = Callable[[str], None]


def protected_sets(protected: Sequence[str] | None, schema: Schema, is_exact: bool) -> list[list[str]]:
    """Return the requested sets of protected attributes; refuse a repeated set.

    Unless `is_exact`, also refuse groups and classes with two spellings, or that may mean a missing value.
    """
    groups = [[name.strip() for name in group.split(",")] for group in protected or schema.protected]
    for number, names in enumerate(groups):
        schema.protect(names)
        if names in groups[:number]:
            raise InputError(f"--protected {','.join(names)}: the set is repeated; give each set once")
    if not is_exact:
        chosen = {name for names in groups for name in names}
        categories = [a for a in schema.attributes if a.name in chosen and isinstance(a, Category)]
        for a in (*categories, schema.label):
            check_values(f"{schema.name}: {a.name}", a.values)
    return groups


def favourable_class(schema: Schema, name: str | None) -> int:
    """Return the index of the favourable class, by default the last class."""
    if name is None and len(schema.classes) > 2:
        raise InputError(f"{schema.name}: {len(schema.classes)} classes; name one with --favourable")
    if name is not None and name not in schema.classes:
        classes = ", ".join(schema.classes)
        raise InputError(f"--favourable {name}: not a class of {schema.name}; choose one of {classes}")
    return len(schema.classes) - 1 if name is None else schema.classes.index(name)


@dataclass(frozen=True)
class OwnTable:
    """A user's table, its schema, and a classifier."""

    path: Path
    table: Data
    schema: Schema
    model: Model
    rows: Rows | None = None  # of the file, for a classifier that was fitted on its columns

    @classmethod
    def read(
        cls, path: Path, schema: Schema, model: str, epochs: int, seed: int, folder: Path, say: Say
    ) -> Self:
        """Read a table, and the classifier named by an argument; save a trained network in the folder."""
        table = read_table(path, schema)
        n_classes = len(schema.classes)
        if model == TRAIN:
            if (table.y == table.y[0]).all():
                raise InputError(
                    f"--model train: all {len(table.y):,} rows have the label {schema.classes[table.y[0]]};"
                    " add rows with another label"
                )
            say("training a network ...")
            network = train(table.X, table.y, n_classes, epochs=epochs, seed=seed)
            save_network(folder / "network.npz", network)
            return cls(path, table, schema, network)
        loaded = load_network(Path(model)) if model.endswith(".npz") else import_object(model)
        as_named = partial(as_table, schema=schema)
        adapted = adapt(loaded, schema.domain.n_attributes, n_classes, schema.label, as_named)
        takes_tables = getattr(adapted, "takes_tables", False)
        rows = Rows.read(path, schema, table.X, table.lines) if takes_tables else None
        return cls(path, table, schema, adapted, rows)

    def subject(self, names: Sequence[str]) -> Subject:
        """Return the classifier under test, with a set of protected attributes."""
        return Subject(self.model, self.schema.domain, self.schema.protect(names))

    @cached_property
    def labels(self) -> np.ndarray:
        """The classifier's labels of the rows of the file, (n,) int64."""
        if self.rows is None:
            return self.model.labels(self.table.X)
        return self.model.table_probabilities(self.rows.frame).argmax(axis=1)

    @property
    def encoded_attributes(self) -> list[str]:
        """The attributes that a user's classifier receives rounded, because it accepts no table."""
        is_own = isinstance(self.model, Network) or self.rows is not None
        return [] if is_own else rounded_attributes(self.schema)

    def check_order(self, labels: np.ndarray, say: Say) -> None:
        """Warn if labels agree with the data less often than chance: the classes may be out of order."""
        if is_below_chance(labels, self.table.y):
            say(
                f"biaslab: the classifier agrees with {self.path} less often than by chance; its outputs may"
                f" be in another order than label.classes of {self.schema.name}"
                f" ({', '.join(self.schema.classes)})"
            )

    def no_all_clear(self, labels: np.ndarray, groups: Groups) -> str:
        """Return why a search without results is no evidence for a classifier; "" if it is evidence."""
        X, reasons = self.table.X, []
        if len(X) < MIN_SAMPLES:
            reasons.append(f"there {'is one sample' if len(X) == 1 else f'are {len(X)} samples'}")
        if len(set(labels.tolist())) == 1:
            reasons.append(f"the classifier gives all samples the label {self.schema.classes[labels[0]]}")
        for names in groups:
            if len(np.unique(X[:, self.schema.domain.columns(names)], axis=0)) == 1:
                reasons.append(f"all samples have the same {' and '.join(names)}")
        return f"No all-clear: {'; '.join(reasons)}." if reasons else ""

    def describe_reading(self, groups: Groups) -> list[str]:
        """Return a line for each difference between the rows and the file, with counts by group."""
        table, lines = self.table, []
        n, n_left_out = len(table.X), len(table.left_out)
        if n_left_out:
            is_left_out = np.arange(n + n_left_out) >= n
            counts = self._count_groups(is_left_out, np.concatenate([table.X, table.left_out]), groups)
            lines.append(
                f"{n_left_out:,} of {n + n_left_out:,} rows are left out because a value or the label is"
                f" missing{counts}. All numbers are of the {n:,} complete rows, also where the classifier"
                " fills in missing values."
            )
        for is_counted, change in (
            (table.outside, "a value outside the schema's domain, which is kept"),
            (table.clipped, "a number beyond low or high, which the schema's clip moves there"),
        ):
            if is_counted.any():
                counts = self._count_groups(is_counted, table.X, groups)
                lines.append(f"{is_counted.sum():,} of {n:,} rows have {change}{counts}.")
        return lines + describe_trimmed(table.n_trimmed)

    def _count_groups(self, is_counted: np.ndarray, codes: np.ndarray, groups: Groups) -> str:
        """Return the counted and total rows of each group, in brackets."""
        parts = []
        for names in groups:
            words = [
                [
                    "missing" if code == MISSING else self.schema.attributes[place].word(code)
                    for code in column
                ]
                for place in self.schema.domain.columns(names)
                for column in [codes[:, place].tolist()]
            ]
            values = np.array([", ".join(row) for row in zip(*words, strict=True)])
            if counts := count_by_group(is_counted, values):
                parts.append(f"{','.join(names)}: {counts}")
        return f" ({'; '.join(parts)})" if parts else ""

    def describe_usual(self, groups: Groups) -> list[str]:
        """Describe which number or spelling of the file variants use for a value that has several."""
        if self.rows is None:
            return []
        lines = []
        for name in dict.fromkeys(name for names in groups for name in names):
            place = self.schema.domain.names.index(name)
            attribute, codes = self.schema.attributes[place], self.rows.X[:, place]
            values = self.rows.frame[attribute.column].groupby(codes).nunique()
            ambiguous = values.index[values > 1][:MAX_GROUPS]
            if len(ambiguous):
                texts = [f"{attribute.word(int(c))}: {self.rows.usual(place, int(c))}" for c in ambiguous]
                lines.append(
                    f"A variant in {name} has the most frequent number or spelling of the file for its value"
                    f" ({', '.join(texts)})."
                )
        return lines


def search(subject: Subject, X: np.ndarray, tester: Tester, campaign: Campaign) -> Phases:
    """Search with a tester as printed in the paper, from rows in turn from the clusters of the data."""
    seeds, n_seeds = X[:0], campaign.seeds
    if not tester.draws_seeds:
        n_different = len(np.unique(X, axis=0))
        clusters = cluster(X, min(N_CLUSTERS, n_different))
        seeds = X[take_turns(clusters, campaign.seeds)]
        n_seeds = len(seeds)
    task = Task(
        subject=subject,
        data=X,
        seeds=seeds,
        n_seeds=n_seeds,
        hops=campaign.hops,
        n_explored=campaign.seeds,
        n_drawn=campaign.seeds * (campaign.hops + 1),
        seed=campaign.seed,
    )
    return collect(tester.search(task, tester.settings(PAPER)))


def summarize(
    subject: Subject, X: np.ndarray, tester: Tester, campaign: Campaign, outcome: Phases
) -> dict[str, object]:
    """Count the finds, and measure the fairness of the classifier in the domain and on the data."""
    counts = outcome.joined().count(subject.protected)
    share, low, high = uniform_fairness(subject, n=N_UNIFORM, seed=campaign.seed)
    return {
        "tester": tester.name,
        "n_seeds": campaign.seeds if tester.draws_seeds else min(campaign.seeds, len(X)),
        "n_samples": counts.n_samples,
        "n_discriminatory": counts.n_discriminatory,
        "share": counts.n_discriminatory / counts.n_samples if counts.n_samples else np.nan,
        "n_queries": outcome.n_queries,
        "n_uniform": N_UNIFORM,
        "uniform_share": share,
        "ci_low": low,
        "ci_high": high,
        "data_share": discriminatory_share(subject, X),
    }


def found_pairs(subject: Subject, outcome: Phases, schema: Schema) -> pd.DataFrame:
    """Return every distinct discriminatory sample with another member of its pair."""
    X = outcome.joined().distinct_discriminatory(subject.protected)
    others, labels, other_labels = find_partners(subject, X)
    classes = np.array(schema.classes, object)
    other_values = decode(others, schema).iloc[:, list(subject.protected.columns)].to_numpy(object)
    partner_columns = {
        "other_value": [", ".join(values) for values in other_values],
        "label": classes[labels],
        "other_label": classes[other_labels],
    }
    return pd.concat([decode(X, schema), pd.DataFrame(partner_columns, dtype=str)], axis=1)
