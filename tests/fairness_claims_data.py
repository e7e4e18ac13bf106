"""Made results of fairness testing on tables with the numbers of the paper, and in which nothing happens."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pandas as pd

from biaslab.audit.claims import Claim
from biaslab.core.io import read_tsv, write_tsv
from biaslab.fairness_testing.settings import CONTROL
from biaslab.run.area import load_area
from biaslab.run.plan.reports import write_report
from fairness_report_data import AUTHORS, units_of, write_results

SETUPS = tuple(AUTHORS)
UNMET: dict[str, str] = {}
PUBLISHED_NAMES = {"sex": "gender"}
_COUNTS = {
    "n_samples": "adf-table4-{setting}-{tester}-samples",
    "n_discriminatory": "adf-table4-{setting}-{tester}-discriminatory",
    "global_discriminatory": "adf-table6-{setting}-{tester}",
}


def is_as_printed(claim: Claim) -> bool:
    """Return whether the made results have the printed number: of Tables IV, VI, VII and the examples."""
    of_tables = re.search("^adf-table[46]-.*(?<!-paper)$|^adf-table7-.*-(adf|aequitas)$", claim.claim_id)
    return bool(of_tables) or claim.claim_id.startswith("adf-example")


def write_published(results: Path, claims: Mapping[str, Claim]) -> None:
    """Write made results, and put the printed numbers in the place of what each tester found."""
    write_results(results / "fairness_testing", AUTHORS)
    write_report(load_area("fairness_testing"), units_of(AUTHORS), results, ["averages"])
    put_printed(results, claims, lambda tester: tester)
    change(results, "fairness", lambda table, _: table.assign(seed_share=0.01))


def change(results: Path, name: str, edit: Callable[[pd.DataFrame, str], pd.DataFrame]) -> None:
    """Edit a file of each of the authors' classifiers."""
    for classifier in AUTHORS:
        path = results / "fairness_testing" / classifier / f"{name}.tsv"
        write_tsv(path, edit(read_tsv(path), classifier))


def put_printed(results: Path, claims: Mapping[str, Claim], whose: Callable[[str], str]) -> None:
    """Give each tester the printed numbers of the one that `whose` names."""

    def printed(pattern: str, table: pd.DataFrame, tester: str) -> list[float]:
        names = table["protected"].replace(PUBLISHED_NAMES)
        settings = [f"{c}-{p}" for c, p in zip(table["classifier"], names, strict=True)]
        return [claims[pattern.format(setting=setting, tester=tester)].value for setting in settings]

    def counts(table: pd.DataFrame, classifier: str) -> pd.DataFrame:
        table = table.astype(dict.fromkeys(_COUNTS, float))
        table["n_seeds"] = claims[f"adf-seeds-{classifier}"].value
        for tester in table["tester"].unique():
            own = table["tester"] == tester
            for column, pattern in _COUNTS.items():
                if pattern.format(setting="census-age", tester=whose(tester)) in claims:
                    table.loc[own, column] = printed(pattern, table[own], whose(tester))
        return table

    def local(table: pd.DataFrame, _: str) -> pd.DataFrame:
        for tester in table["tester"].unique():
            own = table["tester"] == tester
            found = printed("adf-table7-{setting}-{tester}", table[own], whose(tester))
            table.loc[own, "mean_discriminatory"] = found * table.loc[own, "hops"] / 1000
        return table

    change(results, "counts", counts)
    change(results, "local", local)


def _alike(tester: str) -> Callable[[Path, Mapping[str, Claim]], None]:
    return lambda results, claims: put_printed(results, claims, lambda _: tester)


def _search_nothing(results: Path, claims: Mapping[str, Claim]) -> None:
    """Let the share of discriminatory seeds be what the global phase found."""

    def all_before(table: pd.DataFrame, classifier: str) -> pd.DataFrame:
        names = table["protected"].replace(PUBLISHED_NAMES)
        found = [claims[f"adf-table6-{classifier}-{p}-adf"].value for p in names]
        return table.assign(seed_share=[x / claims[f"adf-seeds-{classifier}"].value for x in found])

    change(results, "fairness", all_before)


def _retrain_nothing(results: Path, _: Mapping[str, Claim]) -> None:
    change(
        results,
        "retraining",
        lambda table, _: table.assign(share_before=0.1, share_after=0.1)[table["tester"] != CONTROL],
    )


def _majority(results: Path, claims: Mapping[str, Claim]) -> None:
    def idle(table: pd.DataFrame, classifier: str) -> pd.DataFrame:
        accuracy = claims[f"adf-table3-{classifier}"].value / 100
        return table.assign(accuracy=accuracy, positives=1 - accuracy)

    change(results, "classifiers", idle)


def _guess(results: Path, _: Mapping[str, Claim]) -> None:
    change(results, "counts", lambda table, _: table.assign(n_samples=100.0, n_discriminatory=40.0))


def _stay(results: Path, _: Mapping[str, Claim]) -> None:
    def idle(table: pd.DataFrame, _: str) -> pd.DataFrame:
        still = {"partner": table["start"], "moved": table["start"], "moved_found": table["start_found"]}
        same = 1 / table["attribute"].nunique()
        return table.assign(**still, direction=0, probability=same, lower_found="yes", upper_found="yes")

    change(results, "steps", idle)


NULLS = {
    "all testers as ADF": (_alike("adf"), "^adf-(order-)?table[47]-(?!.*paper)", ""),
    "all testers as AEQUITAS": (_alike("aequitas"), "^adf-(order-)?table[47]-(?!.*paper)", ""),
    "no global phase": (_search_nothing, "^adf-table6-.*-adf$", ""),
    "no retraining": (_retrain_nothing, "^adf-(retrained-|retraining-improves|order-improvement)", ""),
    "the greater class": (_majority, "^adf-table3-", ""),
    "no step": (_stay, "^adf-example", "adf-example-seed-fair|adf-example-direction-.*"),
    "samples of chance": (_guess, "^adf-(order-)?table5-", ""),
}
