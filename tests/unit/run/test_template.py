"""The configuration that ``biaslab init`` writes: valid as it is, and with every example switched on."""

import re
from pathlib import Path

import yaml

from biaslab.run import config as configuration

ROOT = Path(__file__).parents[3]
TEMPLATE = (ROOT / "config/config.yaml").read_text(encoding="utf-8")


def test_every_example_in_its_comments_has_known_keys():
    examples = re.sub(r"^# (?=(?: *)[a-z_]+:)", "", TEMPLATE, flags=re.M)
    switched = yaml.safe_load(examples)
    assert {"origins", "fairness_testing", "hate_speech"} <= set(switched)
    configuration.check_keys(switched, "config/config.yaml")
