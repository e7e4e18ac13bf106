import re

import pytest
import yaml

from biaslab.core.schema import find_problem

SCHEMA = {"properties": {"rate": {"type": "number", "description": "learning rate"}}}


@pytest.mark.parametrize("text", ["5e-05", "1e5", "5.e3", "-2E-3", "2.5e7"])
def test_numbers_that_yaml_reads_as_texts_are_named_with_their_remedy(text):
    problem = find_problem(yaml.safe_load(f"rate: {text}"), SCHEMA)
    (remedy,) = re.findall(r"because YAML reads it as a text \(write (\S+)\); write a number", problem)
    assert yaml.safe_load(remedy) == float(text)


def test_other_texts_get_no_such_remedy():
    assert (
        find_problem({"rate": "fast"}, SCHEMA)
        == 'rate: "fast" is not a number; write a number: learning rate'
    )
