"""Commands of the release before this one: one line names what to use instead."""

import pytest

from biaslab.cli.removed import SUCCESSORS, refuse_removed
from biaslab.core.errors import InputError


@pytest.mark.parametrize("command", SUCCESSORS)
def test_a_removed_command_names_its_successor(command):
    with pytest.raises(InputError, match=f"biaslab {command} was removed; ") as caught:
        refuse_removed([*command.split(), "a", "--out", "b"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "arguments", [[], ["audit"], ["audit", "measure", "check"], ["run", "--", "audit", "check"]]
)
def test_other_commands_pass(arguments):
    refuse_removed(arguments)
