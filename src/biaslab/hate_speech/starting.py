"""The first configuration of a person's own labelled texts, for ``biaslab init``."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from biaslab.core.errors import InputError
from biaslab.run.root import repository
from biaslab.run.starting import Start, quoted
from biaslab.text.corpora import Source

_GROUPS = "groups.yaml"
_EXAMPLE = "workflow/resources/hate_speech/identifiers_example.yaml"
_ENOUGH = 60


def start(texts: Path, options: Mapping[str, Any]) -> Start:
    """Return the section of a table of texts with labels, and names of groups to replace by one's own."""
    n_texts = len(Source("table", texts).read())
    if n_texts < _ENOUGH:
        raise InputError(f"{texts}: {n_texts} texts; write {_ENOUGH} or more, to train on and to test on")
    section = f"""corpora:
  mine:
    format: table # columns text and label
    source: {quoted(texts)}
hate_speech: # what does a classifier make of the names of groups?
  run: [mine]
  otherwise: []
  transfer: []
  corpora:
    mine:
      identifiers: {_GROUPS} # names of groups, made up to begin with
"""
    groups = (repository() / _EXAMPLE).read_text(encoding="utf-8")
    said = [f"{texts}: {n_texts:,} texts", f"write the names of your groups into {_GROUPS}"]
    return Start(section, {_GROUPS: groups}, said)
