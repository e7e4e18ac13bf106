"""The first configuration of a person's own table, for ``biaslab init``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biaslab.classifiers.drafting import draft
from biaslab.core.errors import InputError
from biaslab.run.starting import Start, quoted

_SCHEMA = "columns.yaml"


def start(table: Path, options: Mapping[str, Any]) -> Start:
    """Return the section of a table whose column ``label`` is predicted, and a draft of its schema."""
    label = options.get("label")
    if not label:
        raise InputError(f"{table}: name the column that a classifier predicts, --label COLUMN")
    found = draft(table, label)
    section = f"""fairness_testing: # whom does a classifier treat differently for a protected attribute?
  run: [mine]
  otherwise: []
  classifiers:
    mine:
      schema: {_SCHEMA} # what the columns mean: a draft, to be read over
      data: {quoted(table)}
      network: train # or the weights of a network (.npz)
  text: {{run: [], otherwise: []}}
"""
    said = [f"{table}: {len(found.attributes)} attributes, protected {', '.join(found.protected)}"]
    return Start(section, {_SCHEMA: found.text}, [*said, f"read over {_SCHEMA}"])
