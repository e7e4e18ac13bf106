"""Print the default with the sizes of the smoke preset: its plan, areas and data, and little to compute."""

import sys
from pathlib import Path

import yaml

NOT_SIZES = {
    *(
        "run",
        "otherwise",
        "weats",
        "corpus",
        "vocabulary",
        "embeddings",
        "benchmarks",
        "classifiers",
        "corpora",
    ),
    *("transfer", "hatecheck", "fuzzed", "nonfuzzed", "encoder", "setup", "areas"),
}
"""What the preset has in place of the default's data."""


def sizes(settings: dict) -> dict:
    """Return the settings of a preset that say how much is computed."""
    return {
        key: sizes(value) if isinstance(value, dict) else value
        for key, value in settings.items()
        if key not in NOT_SIZES
    }


smoke = yaml.safe_load(Path("workflow/presets/smoke.yaml").read_text(encoding="utf-8"))
short = sizes(smoke)
short["origins"]["setups"] = {"sample": short["origins"]["setups"]["smoke"]}
short["debiasing"]["comparison"]["methods"] = [
    "hard",
    "soft",
    "double_hard",
]  # INLP leaves nothing of so few dimensions
yaml.safe_dump(short, sys.stdout)
