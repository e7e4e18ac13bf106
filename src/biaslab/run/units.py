"""Units as one line of JSON, in which a rule names them to the writer of tables and figures."""

import json
from collections.abc import Sequence

from biaslab.core.errors import InputError
from biaslab.run.area import Unit


def units_to_json(units: Sequence[Unit]) -> str:
    """Return units as one line of JSON, from which `units_from_json` makes them again."""
    names = ("name", "tests", "options", "files", "marks")
    return json.dumps([{name: getattr(unit, name) for name in names} for unit in units], sort_keys=True)


def units_from_json(text: str) -> list[Unit]:
    """Return the units that a line of JSON describes."""
    try:
        rows = json.loads(text)
        return [
            Unit(
                row["name"],
                tuple(row.get("tests", ())),
                row.get("options", {}),
                row.get("files", {}),
                tuple(row.get("marks", ())),
            )
            for row in rows
        ]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError(
            f'--units: not a list of units in JSON ({error}); write for instance \'[{{"name": "sample"}}]\''
        ) from error
