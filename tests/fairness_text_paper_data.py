"""Results on texts as they would be if every number were the paper's own, and its settings, too."""

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pandas as pd

from biaslab.audit.claims import EXEMPT_KINDS, Claim
from biaslab.core.io import read_tsv, write_tsv
from biaslab.fairness_testing.settings import TEXT, TEXT_COLUMNS
from biaslab.run.area import Unit, load_area
from biaslab.run.plan.reports import write_report
from fairness_report_data import CLAIMS

CORPORA = ("wikipedia", "jigsaw")
MODELS = ("lstm", "gru")
FEATURES = ("country", "ethnic", "race", "religion")
HOPS, VECTORS, REPETITIONS = 1000, (400_000, 50), 5
STRATEGIES = ("rp", "asc", "adf_asc", "hf", "adf_hf")
CONTROL = 12.0
"""What training again with nothing added removes, in percent; the paper has no such control."""
TEST_SIZES = {"wikipedia": (31_866, 3_048), "jigsaw": (63_978, 6_090)}
ALL_SIZES = {"wikipedia": 127_000, "jigsaw": 313_000}
FARTHER = ("l0", "l2")
MASKS = CLAIMS.parent / "masked_words.txt"
LEAD = {"l0": 0.8645, "l2": 0.9061, "jaccard": 1.0725, "similarity": 1.0317, "bleu": 1.1104}
"""The measures of Figure 8 for ADF, by those for random perturbation."""


SETUPS = tuple(f"text-{name}" for name in CORPORA)
UNMET = dict.fromkeys(
    (
        "adf-text-table3-wikipedia-gru",
        "adf-text-table8-wikipedia-gru-race-success-adf",
        "adf-text-table8-wikipedia-gru-religion-success-adf",
        "adf-text-at-most",
    ),
    "inconclusive",
)
"""Printed numbers that are within their own error of the more frequent label, or of random perturbation."""


def units_of(corpora: Iterable[str], unmask: bool = True) -> list[Unit]:
    """Return the units of a run that tests networks on these corpora."""
    files = {"claims": str(CLAIMS / "fairness_testing.tsv"), "masked_words": str(MASKS)}
    options = {"unmask": unmask}
    return [
        Unit(f"text-{name}", options={**options, "corpus": name}, files=files, marks=(TEXT,))
        for name in corpora
    ]


def is_as_printed(claim: Claim) -> bool:
    """Return whether the made results have the printed number: cells, averages, settings."""
    of_cells = re.search(r"table\d|average-(found|local|success|improvement)|at-most", claim.claim_id)
    return bool(of_cells) or claim.kind in EXEMPT_KINDS


def write_averages(results: Path) -> None:
    """Compute the averages over all settings again."""
    write_report(load_area("fairness_testing"), units_of(CORPORA), results, ["text_averages"])


def write_published(results: Path, claims: Mapping[str, Claim]) -> None:
    """Write the files of both corpora: the cells of the paper's tables, in each of five repetitions."""
    for corpus in CORPORA:
        rows = _rows(corpus, lambda name: claims[f"adf-text-{name}"].value)
        for name, found in rows.items():
            columns = TEXT_COLUMNS[name]
            path = results / f"fairness_testing/text-{corpus}/{name}.tsv"
            write_tsv(path, pd.DataFrame(found, columns=list(columns)))
    write_averages(results)


def _rows(corpus: str, printed) -> dict[str, list]:
    """Return the rows of all files of a corpus."""
    rows = {
        name: []
        for name in ("texts", "vectors", "models", "global", "local", "validity", "retraining", "pools")
    }
    n_test, n_toxic = TEST_SIZES[corpus]
    sizes = {"train": ALL_SIZES[corpus] - n_test - 1000, "validation": 1000, "test": n_test}
    rows["texts"] = [
        [part, "all", n, n_toxic if part == "test" else n // 10, 80.0, 0.9] for part, n in sizes.items()
    ]
    rows["vectors"] = [list(VECTORS)]
    for model in MODELS:
        for number in range(REPETITIONS):
            accuracy = printed(f"table3-{corpus}-{model}") / 100
            rows["models"].append([model, number, 90_000, n_test, accuracy, 0.904, 0.5, 0.001, 9])
            for feature in FEATURES:
                _benchmark(rows, corpus, model, feature, number, printed)
    return rows


def _benchmark(rows: dict[str, list], corpus: str, model: str, feature: str, number: int, printed) -> None:
    """Add the rows of one network and feature."""
    setting, cell = [model, feature], f"{corpus}-{model}-{feature}"
    n_seeds, n_raw = printed(f"table8-{cell}-seed"), printed(f"table8-{cell}-raw")
    found = {name: printed(f"table8-{cell}-{name.replace('_', '-')}") for name in STRATEGIES}
    for name, n_found in found.items():
        rows["global"].append([*setting, name, number, n_seeds, n_raw, n_found, 9000, 700])
    for tester, begun in (("rp", "rp"), ("adf", "adf_asc")):
        n_found, share = printed(f"table8-{cell}-local-{tester}"), printed(f"table8-{cell}-success-{tester}")
        n_starts = n_raw + found[begun]
        n_gradients = 2 * HOPS * n_starts if tester == "adf" else 0
        for start in ("own", "same"):
            counts = [n_starts, 100 * n_found / share, n_found, 9 * n_found, n_gradients]
            rows["local"].append([*setting, tester, start, number, *counts])
    level = {name: printed(f"table9-asc-{name}") for name in LEAD} | {"l0": 3.13}
    for metric, lead in LEAD.items():
        local = {"adf": level[metric], "rp": level[metric] / lead}
        globally = {s: printed(f"table9-{s.replace('_', '-')}-{metric}") for s in STRATEGIES[1:]}
        for phase, means in (("local", local), ("global", globally)):
            rows["validity"] += [[*setting, number, phase, t, metric, 60, mean] for t, mean in means.items()]
    removed = {
        "none": CONTROL,
        "certified": printed(f"table13-{cell}-certified"),
        "adf_asc": printed(f"table13-{cell}-augmented"),
    }
    removed |= {"asc": removed["adf_asc"] - 3, "hf": removed["adf_asc"] - 1, "adf_hf": removed["adf_asc"] + 1}
    if cell in ("wikipedia-lstm-race", "jigsaw-gru-ethnic"):
        removed |= {t: printed(f"table14-{cell}-{t.replace('_', '-')}") for t in ("asc", "hf", "adf_hf")}
    for tester, improvement in removed.items():
        if tester == "certified" and number:
            continue
        rule = "" if tester in ("none", "certified") else "majority"
        n_added = 2 * 500 if rule else 0
        n = [n_added, 155_690, 1556.9 * improvement, improvement]
        rows["retraining"].append([*setting, tester, rule, number, *n, 0.9, 0.9, 0.5, 0.5])
        if rule and not number:
            rows["pools"].append([*setting, tester, 10_000])


def _with(**files: Mapping[str, object]) -> Callable[[Path, Mapping[str, Claim]], None]:
    """Return a function that gives columns of files of both corpora one value."""

    def write(results: Path, _: Mapping[str, Claim]) -> None:
        for unit in SETUPS:
            for name, columns in files.items():
                path = results / f"fairness_testing/{unit}/{name}.tsv"
                write_tsv(path, read_tsv(path).assign(**columns))
        write_averages(results)

    return write


_ALIKE = {
    "global": {"n_raw": 10.0, "n_found": 50.0, "n_seeds": 1000.0},
    "local": {"n_texts": 1000.0, "n_discriminatory": 800.0, "n_starts": 30.0},
    "validity": {"mean": 0.8},
    "retraining": {"improvement": CONTROL},
}
_NOTHING = {
    "global": {"n_raw": 0, "n_found": 0},
    "local": {"n_texts": 0, "n_discriminatory": 0},
    "retraining": {"n_removed": 0, "improvement": 0.0},
}
NULLS = {
    "equal testers": (_with(**_ALIKE), "table(8|9|13|14)|average|order", ".*-(rp|raw|n-independent)"),
    "the greater class": (_with(models={"accuracy": 0.904, "majority": 0.904}), "table3", ""),
    "nothing is found": (
        _with(**_NOTHING),
        "table(8|13|14)|average-(found|local|imp)(?!.*nearer)|order-(?!.*nearer)",
        ".*-l0",
    ),
}
