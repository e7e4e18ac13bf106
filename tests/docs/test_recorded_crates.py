"""Records that are crates: what they show is made of them again, on a machine without corpus and torch."""

import importlib.util
import zipfile

import pytest

from biaslab.run.crate import METADATA, RESULTS
from biaslab.run.crate.contents import is_shown
from consoles import ROOT
from elsewhere import Elsewhere

_SPEC = importlib.util.spec_from_file_location("record", ROOT / "docs/record.py")
record = importlib.util.module_from_spec(_SPEC)
with pytest.MonkeyPatch.context() as patch:  # it imports the script beside it
    patch.syspath_prepend(ROOT / "docs")
    _SPEC.loader.exec_module(record)

CRATES = [
    path for path in sorted(record.RECORDED.glob("*.zip")) if METADATA in zipfile.ZipFile(path).namelist()
]


def shown(archive: zipfile.ZipFile) -> dict[str, bytes]:
    """Return the tables and figures of a crate."""
    names = [name for name in archive.namelist() if name.startswith(f"{RESULTS}/") and not name.endswith("/")]
    found = {name.removeprefix(f"{RESULTS}/"): name for name in names if "/benchmarks/" not in name}
    return {
        name: archive.read(place)
        for name, place in found.items()
        if is_shown(name) and "/" in name and not name.startswith("audit/manifest")
    }


@pytest.mark.slow
@pytest.mark.parametrize("crate", CRATES, ids=lambda path: path.stem)
def test_all_tables_figures_and_the_audit_are_made_of_the_record_with_the_same_bytes(crate, tmp_path):
    place = Elsewhere(tmp_path, has_torch=False)
    said = place.biaslab("run", "--from", crate, "--cores", 2)
    with zipfile.ZipFile(crate) as archive:
        expected = shown(archive)
    made = {path: (place.folder / RESULTS / path).read_bytes() for path in expected}
    assert len(expected) > 40
    assert [path for path in expected if made[path] != expected[path]] == []
    assert not list((place.folder / "results").rglob("*.npz")), "nothing was counted or trained"
    assert "not taken" not in said


@pytest.mark.parametrize("crate", CRATES, ids=lambda path: path.stem)
def test_the_pictures_of_the_pages_are_those_of_the_record(crate):
    with zipfile.ZipFile(crate) as archive:
        files = set(archive.namelist())
        figures = {
            picture: f"{RESULTS}/{figure}.png"
            for picture, figure in record.FIGURES.items()
            if f"{RESULTS}/{figure}.png" in files
        }
        assert figures
        for picture, figure in figures.items():
            assert (ROOT / f"docs/images/{picture}.png").read_bytes() == archive.read(figure), picture


def test_there_is_a_crate():
    assert "simplewiki" in [path.stem for path in CRATES]
