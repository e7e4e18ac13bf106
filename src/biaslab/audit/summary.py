"""The summary of an audit: headline, accounting of printed items, and correction for multiple tests.

The headline counts each printed statement and each printed cell once, even if several rows measure it:

- If a claim was measured on several setups, rows with the paper's settings and with the paper's data (or
  about any data) count. Other rows count only if no such row could be measured. The worst verdict counts.
- If several rows form one statement (one ``group``), the worst verdict counts, and the weakest evidence of a
  reproduced statement. If some parts are not attempted, the statement is inconclusive at best. If no part is
  attempted, the statement is not attempted.

Orderings derived from cells, settings, identities and hypotheses are not counted.
"""

import math
import os
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
import yaml

from biaslab.audit.claims import CELL, COUNTED, EVIDENCE, EXACT, GIVEN, JUDGED, WEAKER
from biaslab.audit.measure import COLUMNS, OTHER
from biaslab.audit.verdicts import (
    DIRECTION_ONLY,
    ELSEWHERE,
    FAILED_ELSEWHERE,
    HELD_ELSEWHERE,
    INCONCLUSIVE,
    NOT_ATTEMPTED,
    NOT_REPRODUCED,
    REPRODUCED,
    ROUNDING,
    VERDICTS,
    label,
)
from biaslab.core.errors import InputError
from biaslab.core.files import read_text_table, write_text
from biaslab.core.tables import Table, text_columns, write_table
from biaslab.run.record.manifest import CLAIMS
from biaslab.run.record.provenance import sha256_file

PRINTED = ("paper", "item", "counts_as", "printed", "absent", "reason")
PAPERS = ("paper", "title", "at_hand", "not_at_hand", "main")
NO_ROW = "no_row"  # column of the headline: the number of printed items without a row in a registry

Q_LEVEL = 0.05  # the false discovery rate of `Multiplicity`

_WORST_FIRST = (
    NOT_REPRODUCED,
    FAILED_ELSEWHERE,
    INCONCLUSIVE,
    HELD_ELSEWHERE,
    DIRECTION_ONLY,
    REPRODUCED,
    NOT_ATTEMPTED,
)
_CODECHECK_HEAD = """\
# Written by biaslab audit from {claims}. Whoever checks adds what only people know: authors and
# reference of the paper, codechecker, check_time, repository, certificate.
"""
_NUMBERS = ("value", "tolerance", "measured", "ci_low", "ci_high", "p_value", "null")


def read_measured(path: str | os.PathLike) -> pd.DataFrame:
    """Read the table of `biaslab.audit.measure`; empty fields are empty texts or missing numbers."""
    rows = read_text_table(path, COLUMNS)
    for line, row in rows:
        where = f"{path}, line {line}"
        if row["verdict"] not in VERDICTS:
            raise InputError(f"{where}: '{row['verdict']}' is no verdict; regenerate the table")
        for name in _NUMBERS:
            try:
                row[name] = float(row[name] or "nan")
            except ValueError as error:
                raise InputError(f"{where}: '{row[name]}' is no number; regenerate the table") from error
    return pd.DataFrame([row for _, row in rows], columns=list(COLUMNS))


def read_printed(paths: Iterable[str | os.PathLike]) -> pd.DataFrame:
    """Read the number of printed results of each item of the papers; columns `PRINTED`."""
    table: dict[tuple[str, ...], dict[str, object]] = {}
    for path in paths:
        for line, row in read_text_table(path, PRINTED, exactly=True):
            where, key = f"{path}, line {line}", tuple(row[name] for name in PRINTED[:3])
            for name in ("printed", "absent"):
                if not row[name].isdecimal():
                    message = f"'{row[name]}' is no number of things; write a whole number"
                    raise InputError(f"{where}, column '{name}': {message}")
            printed, absent = int(row["printed"]), int(row["absent"])
            if row["counts_as"] not in COUNTED:
                raise InputError(
                    f"{where}, column 'counts_as': '{row['counts_as']}' is not allowed; write "
                    + " or ".join(COUNTED)
                )
            if absent > printed:
                raise InputError(f"{where}: {absent} absent of {printed} printed; correct one of them")
            if absent and not row["reason"]:
                raise InputError(f"{where}, column 'reason': empty; state why {absent} have no row")
            if key in table:
                raise InputError(f"{where}: {', '.join(key)} has a row already; remove one")
            table[key] = row | {"printed": printed, "absent": absent}
    return pd.DataFrame(table.values(), columns=list(PRINTED))


def read_papers(paths: Iterable[str | os.PathLike]) -> pd.DataFrame:
    """Read the available and missing source texts of each paper and its main claims; columns `PAPERS`."""
    table: dict[str, dict[str, str]] = {}
    for path in paths:
        for line, row in read_text_table(path, PAPERS, exactly=True):
            if row["paper"] in table:
                raise InputError(f"{path}, line {line}: {row['paper']} has a row already; remove one")
            table[row["paper"]] = row
    return pd.DataFrame(table.values(), columns=list(PAPERS))


def worst(verdicts: Iterable[str]) -> str:
    """Return the worst verdict; `NOT_ATTEMPTED` only if all verdicts are `NOT_ATTEMPTED`."""
    return min(verdicts, key=_WORST_FIRST.index)


def count_once(claims: pd.DataFrame) -> pd.DataFrame:
    """Return the verdict on each printed statement and cell: paper, counts_as, name, verdict and evidence.

    The name is the statement, or the claim_id of a cell. Evidence is empty unless the verdict is reproduced.
    """
    parts: dict[tuple[str, str, str], dict[str, list[tuple[str, str, str]]]] = {}
    columns = ["paper", "counts_as", "claim_id", "group", "verdict", "data", "evidence"]
    # Tuples, because a table per claim takes a second for a thousand claims.
    for paper, counts_as, claim_id, group, *judgement in claims[columns].itertuples(index=False, name=None):
        if counts_as in COUNTED:
            key = paper, counts_as, claim_id if counts_as == CELL else group
            parts.setdefault(key, {}).setdefault(claim_id, []).append(tuple(judgement))
    counted = []
    for key, rows_of in parts.items():
        verdicts = []
        for rows in rows_of.values():
            tried = [(verdict, data) for verdict, data, _ in rows if verdict != NOT_ATTEMPTED]
            fair = [verdict for verdict, data in tried if data != OTHER and verdict not in ELSEWHERE]
            verdicts.append(worst(fair or [verdict for verdict, _ in tried] or [NOT_ATTEMPTED]))
        attempted = [verdict for verdict in verdicts if verdict != NOT_ATTEMPTED]
        verdict = worst([*attempted, INCONCLUSIVE] if 0 < len(attempted) < len(verdicts) else verdicts)
        kinds = [evidence for rows in rows_of.values() for _, _, evidence in rows]
        evidence = max(kinds, key=list(EVIDENCE).index) if verdict == REPRODUCED else ""
        counted.append((*key, verdict, evidence))
    return pd.DataFrame(counted, columns=["paper", "counts_as", "name", "verdict", "evidence"])


def headline(claims: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Count the verdicts on printed results: two rows per paper, for statements and cells.

    The columns of verdicts and `NO_ROW` sum to the column printed, those of `EVIDENCE` to reproduced.
    """
    counted, rows = count_once(claims), []
    for paper in dict.fromkeys(claims["paper"]):
        for counts_as in COUNTED:
            matching = counted[(counted["paper"] == paper) & (counted["counts_as"] == counts_as)]
            absent = printed[(printed["paper"] == paper) & (printed["counts_as"] == counts_as)]["absent"]
            counts = {verdict: int((matching["verdict"] == verdict).sum()) for verdict in VERDICTS}
            counts[NO_ROW] = int(absent.sum())
            kinds = {kind: int((matching["evidence"] == kind).sum()) for kind in EVIDENCE}
            row = {"paper": paper, "counts_as": counts_as, "printed": sum(counts.values())}
            rows.append(row | kinds | counts)
    return pd.DataFrame(rows, columns=["paper", "counts_as", "printed", *EVIDENCE, *VERDICTS, NO_ROW])


def accounting(claims: pd.DataFrame, printed: pd.DataFrame) -> pd.DataFrame:
    """Compare the number of printed results of each item with the rows that measure or register them.

    An item that is not in `printed` has missing numbers. A statement of two items is present in both. Column
    sums_up is whether present and absent results sum to the printed results.
    """
    counted = claims[claims["counts_as"].isin(COUNTED)]
    name = counted["claim_id"].where(counted["counts_as"] == CELL, counted["group"])
    keys = list(PRINTED[:3])
    present = counted.assign(present=name).groupby(keys, sort=False)["present"].nunique().reset_index()
    table = printed.assign(position=range(len(printed))).merge(present, on=keys, how="outer", sort=False)
    papers = {paper: n for n, paper in enumerate(dict.fromkeys([*claims["paper"], *printed["paper"]]))}
    table = table.assign(place=table["paper"].map(papers))
    table = table.sort_values(["place", "position"], kind="stable", ignore_index=True)
    table["present"] = table["present"].fillna(0).astype(int)
    table["reason"] = table["reason"].fillna("")
    table["sums_up"] = table["present"] + table["absent"] == table["printed"]
    return table[[*keys, "printed", "present", "absent", "reason", "sums_up"]]


@dataclass(frozen=True)
class Multiplicity:
    """The number of tested signs, and of confirmed signs that survive a correction for multiple tests."""

    measured: int  # measured rows about a sign: statements, cells and orderings
    tested: int  # rows with an interval, and thus a p-value
    clear: int  # rows with the published sign and the entire interval on that side of zero
    kept: int  # rows of `clear` with a Benjamini-Hochberg q over all tested rows of at most `Q_LEVEL`
    exact: int  # rows that every run repeats exactly, which are not tested

    @property
    def untested(self) -> int:
        """The number of rows about a sign that vary by chance and have no interval."""
        return self.measured - self.tested - self.exact

    @property
    def rest(self) -> str:
        """The text of `sentence` after "N of"."""
        return (
            f"{self.measured} measured signs (differences, changes, orderings) hold after a correction for "
            f"testing {self.tested} of them at once (false discovery rate {Q_LEVEL:.0%}, Benjamini and "
            f"Hochberg); {self.clear} have the published sign with an interval clear of zero, {self.exact} "
            f"are exact, and {self.untested} have no interval, so that chance is not excluded."
        )

    @property
    def sentence(self) -> str:
        """The numbers as a sentence."""
        return f"{self.kept} of {self.rest}"


def multiplicity(claims: pd.DataFrame) -> Multiplicity:
    """Correct the confirmed signs for the number of tests."""
    from scipy.stats import false_discovery_control

    is_sign = (claims["kind"] == "sign") & claims["counts_as"].isin(JUDGED)
    signs = claims[is_sign & (claims["verdict"] != NOT_ATTEMPTED)]
    tested = signs[signs["p_value"].notna()]
    q = false_discovery_control(tested["p_value"].astype(float)) if len(tested) else []
    side = tested["value"].map(lambda value: math.copysign(1.0, value))
    margin = tested["tolerance"].fillna(0).clip(lower=ROUNDING)
    clear = (
        (side * tested["measured"] > margin) & (side * tested["ci_low"] > 0) & (side * tested["ci_high"] > 0)
    )
    kept = clear & (pd.Series(q, index=tested.index, dtype=float) <= Q_LEVEL)
    exact = signs["p_value"].isna() & ((signs["interval"] == EXACT) | (signs["evidence"] == GIVEN))
    return Multiplicity(len(signs), len(tested), int(clear.sum()), int(kept.sum()), int(exact.sum()))


def weak_rows(claims: pd.DataFrame) -> pd.DataFrame:
    """Return the measured rows that a null result meets or nearly meets, or that have a caveat."""
    measured = claims[claims["verdict"] != NOT_ATTEMPTED]
    by_null = (measured["weak"] == "yes") & ~measured["caveat"].str.startswith(WEAKER)
    null = by_null.map({True: "a null result would meet it, or come close", False: ""})
    why = null.str.cat(measured["caveat"], sep="; ").str.strip("; ")
    return measured.assign(why=why)[why != ""]


def write_summary(
    claims: pd.DataFrame, printed: pd.DataFrame, papers: pd.DataFrame, stem: Path, say: Callable[[str], None]
) -> None:
    """Write the headline: verdicts on printed results, each statement and cell once."""
    data = headline(claims, printed)
    heads = {"paper": "Paper", "counts_as": "What it prints", "printed": "Printed"}
    heads |= {REPRODUCED: _header(REPRODUCED)} | {name: f"of these {text}" for name, text in EVIDENCE.items()}
    heads |= {name: _header(name) for name in (*VERDICTS, NO_ROW)}
    missing = [
        f"{paper}: not at hand were {text}."
        for paper, text in zip(papers["paper"], papers["not_at_hand"], strict=True)
        if text and paper in set(data["paper"])
    ]
    shown = text_columns(
        data.assign(counts_as=data["counts_as"] + "s"), {head: f"{{{name}}}" for name, head in heads.items()}
    )
    note = " ".join([multiplicity(claims).sentence, *missing])
    write_table(stem, Table(data, shown, "What was found of what the papers print", note))
    say(f"{shown.to_string(index=False)}\n{note}")


def write_codecheck(results: Path, out: Path) -> int:
    """Write codecheck.yml from the audit of a run; return the number of files in its manifest."""
    claims = results / CLAIMS
    table = read_measured(claims)
    table = table[table["verdict"] != NOT_ATTEMPTED]
    if table.empty:
        raise InputError(f"{claims}: nothing was measured; run what the claims need first")
    manifest = []
    rows = table.assign(source=table["source"].str.split()).explode("source").dropna(subset="source")
    for name, claims_of_file in rows.groupby("source", sort=False):
        path = results / name  # a measured file, or a file that shows a claim
        items = ", ".join(dict.fromkeys(claims_of_file["item"]))
        comment = f"{items}. {in_words(claims_of_file)}. sha256 {sha256_file(path)}"
        relative = Path(os.path.relpath(path.resolve(), out.resolve().parent)).as_posix()
        manifest.append({"file": relative, "comment": comment})
    check = {
        "version": "https://codecheck.org.uk/spec/config/1.0/",
        "paper": {"title": "; ".join(dict.fromkeys(table["paper"])), "authors": [], "reference": ""},
        "manifest": manifest,
        "codechecker": [],
        "summary": in_words(table),
    }
    text = yaml.safe_dump(check, sort_keys=False, allow_unicode=True, width=110)
    write_text(out, _CODECHECK_HEAD.format(claims=claims) + text)
    return len(manifest)


def in_words(claims: pd.DataFrame) -> str:
    """Return the number of rows of each verdict as a text."""
    counts = Counter(claims["verdict"])
    texts = ", ".join(f"{counts[name]} {label(name)}" for name in VERDICTS if counts[name])
    return f"{len(claims)} claim{'s' if len(claims) > 1 else ''}: {texts}"


def _header(verdict: str) -> str:
    """Return the header of a verdict's column, as in the tables of archived runs."""
    return verdict.replace("_", " ").capitalize()
