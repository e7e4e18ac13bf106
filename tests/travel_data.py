"""A run whose steps Snakemake has noted, as small as can be: an input, an embedding, a table, a figure."""

import base64
import json
import os

from biaslab.core.files import write_json, write_text
from biaslab.run.record.manifest import write_manifest
from biaslab.run.record.provenance import sha256_file

NOW = 1_700_000_000
CODE = {"train": "a" * 16, "measure": "b" * 16, "report_one": "c" * 16}
MADE = {
    "origins/unit/embeddings/baseline/batch-0.npz": ("train", ["own.txt"]),
    "origins/unit/bias.tsv": ("measure", ["results/origins/unit/embeddings/baseline/batch-0.npz"]),
    "origins/unit/documents.parquet": ("measure", ["own.txt"]),
    "origins/tables/table1.tsv": ("report_one", ["results/origins/unit/bias.tsv"]),
}


def note(folder, output, **fields):
    """Note the step of an output as Snakemake does."""
    name = base64.urlsafe_b64encode(f"results/{output}".encode()).decode()
    text = {"log": [f"results/logs/{output}.log"], "incomplete": False, **fields}
    write_json(folder / ".snakemake/metadata" / name, text)


def make_run(folder, is_whole=True, text=""):
    results = folder / "results"
    write_text(folder / "own.txt", "mine")
    write_text(results / "config.json", json.dumps({"areas": ["origins"], "seed": 1}))
    write_text(results / "datasets/hatecheck/test_suite_cases.csv", "licensed")
    for output in MADE:
        write_text(results / output, f"{output}\n{text}")
    for path in folder.rglob("*"):
        os.utime(path, (NOW, NOW))
    for output, (rule, inputs) in MADE.items():
        sums = {file: f"sha256:{sha256_file(folder / file)}" for file in inputs if file == "own.txt"}
        params = [f"'{CODE[rule]}'", "'x86-64-v3'", "'{\"seed\": 1}'"]
        times = {"starttime": NOW - 60, "endtime": NOW}
        note(folder, output, rule=rule, input=inputs, input_checksums=sums, params=params, **times)
    if is_whole:
        write_text(results / "audit/claims.tsv", "claim_id\tsetup\tverdict\nt1\tunit\treproduced\n")
        write_manifest(results, results / "audit/manifest.json", results / "config.json", CODE, {})
    return results
