"""A run as `codecheck.yml` (https://codecheck.org.uk), with the files behind each claim as its manifest."""

import os
from pathlib import Path

import pandas as pd
import yaml

from biaslab.audit.summary import in_words, read_measured
from biaslab.audit.verdicts import NOT_ATTEMPTED
from biaslab.core.errors import InputError
from biaslab.core.files import write_text
from biaslab.run.provenance import sha256_file

VERSION = "https://codecheck.org.uk/spec/config/1.0/"
_HEAD = """\
# Written by biaslab audit from {claims}. Whoever checks adds what only people know: authors and
# reference of the paper, codechecker, check_time, repository, certificate.
"""


def write_codecheck(results: Path, out: Path) -> int:
    """Write codecheck.yml from the audit of a run; return how many files its manifest has."""
    claims = results / "audit/claims.tsv"
    table = read_measured(claims)
    table = table[table["verdict"] != NOT_ATTEMPTED]
    if table.empty:
        raise InputError(f"{claims}: nothing was measured; run what the claims need first")
    check = {
        "version": VERSION,
        "paper": {
            "title": "; ".join(dict.fromkeys(table["paper"])),
            "authors": [],
            "reference": "",
        },
        "manifest": _manifest(table, results, out.resolve().parent),
        "codechecker": [],
        "summary": in_words(table),
    }
    text = yaml.safe_dump(check, sort_keys=False, allow_unicode=True, width=110)
    write_text(out, _HEAD.format(claims=claims) + text)
    return len(check["manifest"])


def _manifest(table: pd.DataFrame, results: Path, folder: Path) -> list[dict[str, str]]:
    """Return each file that a claim was measured on or that shows it, with what it stands for."""
    rows = table.assign(source=table["source"].str.split()).explode("source").dropna(subset="source")
    found = []
    for name, about in rows.groupby("source", sort=False):
        path = results / name
        items = ", ".join(dict.fromkeys(about["item"]))
        comment = f"{items}. {in_words(about)}. sha256 {sha256_file(path)}"
        found.append({"file": Path(os.path.relpath(path.resolve(), folder)).as_posix(), "comment": comment})
    return found
