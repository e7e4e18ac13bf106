"""Commands of the release before this one, and what to use instead of each."""

from collections.abc import Sequence

from biaslab.core.errors import InputError

SUCCESSORS = {
    "audit check": "use biaslab audit measure FOLDER --check",
    "audit codecheck": "use biaslab audit crate RESULTS --codecheck codecheck.yml",
    "audit freeze": "use biaslab audit measure FOLDER --freeze",
    "audit merge": "make one part after the other: biaslab audit crate, then biaslab run --from",
    "audit resources": "every run writes results/logs/resources.tsv",
    "datasets make": "use biaslab datasets fetch NAME --made-of FILE --out FILE",
}
"""What a message says after the name of a command that was removed, by the command without ``biaslab``."""


def refuse_removed(arguments: Sequence[str]) -> None:
    """Raise an error that names the successor where a removed command is asked for.

    Raises
    ------
    InputError
        When the arguments begin with a removed command.
    """
    for length in (1, 2):
        name = " ".join(arguments[:length])
        if name in SUCCESSORS:
            raise InputError(f"biaslab {name} was removed; {SUCCESSORS[name]}")
