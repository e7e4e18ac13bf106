import hashlib
import shutil
from pathlib import Path

import pandas as pd
import pytest

from biaslab.core.io import write_tsv
from biaslab.run.data import download

SCHEMA = Path(__file__).parents[3] / "workflow/schemas/datasets.schema.yaml"
DATA = b"the registered bytes"
ROW = {"name": "mine", "version": "1", "origin": "local", "location": "-", "filename": "folder/mine.txt"}
ROW |= {"size": str(len(DATA)), "sha256": hashlib.sha256(DATA).hexdigest(), "licence": "CC0"}
ROW |= {"note": "ask the owner"}


@pytest.fixture
def waits(monkeypatch):
    """Allow http, use no proxy, and do not wait between attempts; return the seconds of these waits."""
    waited = []
    monkeypatch.setattr(download.time, "sleep", waited.append)
    monkeypatch.setattr(download, "SCHEMES", ("https", "http"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    return waited


@pytest.fixture
def table(tmp_path):
    """Return a function that writes rows as a registry, beside a copy of the schema; it returns the path."""
    for folder in ("schemas", "resources"):
        (tmp_path / folder).mkdir()
    shutil.copy(SCHEMA, tmp_path / "schemas")

    def write(*rows):
        path = tmp_path / "resources/datasets.tsv"
        write_tsv(path, pd.DataFrame([ROW | row for row in rows]))
        return path

    return write
