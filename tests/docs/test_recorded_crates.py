"""Records that are crates: what they show is made of them again, on a machine without corpus and torch."""

import csv
import io
import re
import zipfile
from pathlib import Path

import pytest

import record
from biaslab.run.record.manifest import MANIFEST, result_files
from biaslab.run.record.provenance import sha256_file
from biaslab.run.travel.crate import METADATA, RESULTS
from biaslab.run.travel.crate.contents import is_shown
from consoles import ROOT
from elsewhere import Elsewhere

CRATES = [
    path for path in sorted(record.RECORDED.glob("*.zip")) if METADATA in zipfile.ZipFile(path).namelist()
]


MADE_OF_THE_CRATE_ALONE = {
    "simplewiki": ("table1_", "table2_", "figure1_", "figure3_", "figure4_", "figure6_", "figure9_"),
    "stormfront": ("table1_", "table5_", "differences", "attributions", "performance"),
}

EDITED = {
    "simplewiki": ("origins/representations/report", "figure9_", "slope * ends, color=plot.BLACK"),
    "stormfront": ("hate_speech/report/figures", "figure2_removal.", "markersize=2.5, color=colour"),
}
"""Of each crate a module, the figure that it draws, and a colour in the function which draws it."""


def recoloured(text: str) -> str:
    """Return an argument of a drawing with another colour."""
    return f'{text.rpartition("=")[0]}="red"'


def without_caption(name: str, content: bytes) -> bytes:
    """Return a table without its caption, which may be written in other words."""
    lines = content.splitlines()
    if "/tables/" in name and name.endswith(".md"):
        lines = [line for line in lines if line.startswith(b"|")]
    elif "/tables/" in name and name.endswith(".tex"):
        lines = [line for line in lines if not line.startswith(rb"\caption")]
    else:
        return content
    return b"\n".join(lines)


def verdicts(claims: bytes) -> list[dict[str, str]]:
    """Return an audit without the tables that show a claim, some of which are gone."""
    rows = csv.DictReader(io.StringIO(claims.decode()), delimiter="\t")
    return [{name: value for name, value in row.items() if name != "source"} for row in rows]


def shown(archive: zipfile.ZipFile) -> dict[str, bytes]:
    """Return what of a crate is shown today, but for its manifest, which names the machine."""
    names = [member.filename for member in archive.infolist() if not member.is_dir()]
    names = [name for name in names if name.startswith(f"{RESULTS}/") and "benchmarks" not in name]
    found = {name.removeprefix(f"{RESULTS}/"): name for name in names}
    today = filter(is_shown, found.keys() - {"README.md", MANIFEST})
    return {name: without_caption(name, archive.read(found[name])) for name in today}


@pytest.fixture(scope="module", params=CRATES, ids=lambda path: path.stem)
def regenerated(request, tmp_path_factory) -> tuple[Path, Elsewhere, str]:
    """Return a crate, a machine without torch that went on from it, and what the run there said.

    An earlier run there was killed while it wrote tables and figures.
    """
    place, logs = Elsewhere(tmp_path_factory.mktemp("crate"), has_torch=False), "results/logs/**/report*.log"
    run = ["run", "--from", request.param, "--cores", 2]
    place.kill(run, lambda: list(place.folder.glob(logs)))
    return request.param, place, place.biaslab(*run)


@pytest.mark.slow
def test_what_is_shown_is_made_of_the_record_with_the_same_bytes(regenerated):
    """Of code that has changed since, what a crate is too small for or may not hold is left out, and said."""
    crate, place, said = regenerated
    with zipfile.ZipFile(crate) as archive:
        expected = shown(archive)
    there = {name: place.folder / RESULTS / name for name in expected}
    made = {name: without_caption(name, path.read_bytes()) for name, path in there.items() if path.is_file()}
    goes_without = re.search(r"^biaslab: \w+ skips ", said, re.MULTILINE) is not None
    assert goes_without == (len(made) < len(expected)), said
    other = {name for name in made if made[name] != expected[name]}
    assert {name for name in other if "/tables/" in name or "/figures/" in name} == set()
    assert goes_without or other <= {"audit/claims.tsv", "audit/audit.html"}
    assert verdicts(made["audit/claims.tsv"]) == verdicts(expected["audit/claims.tsv"])
    for part in MADE_OF_THE_CRATE_ALONE[crate.stem]:
        assert any(f"/{part}" in name for name in made), part
    assert not list((place.folder / RESULTS).rglob("*.npz")), "something was counted or trained"
    assert not list((place.folder / RESULTS).rglob(".*.partial*")), "half of a file is left"


@pytest.mark.slow
def test_the_same_command_changes_nothing_and_an_edited_figure_alone_is_drawn_again(regenerated):
    crate, place, _ = regenerated
    before = states(place)
    place.biaslab("run", "--from", crate, "--cores", 2)
    assert states(place) == before, "the same command again changed something"
    module, figure, colour = EDITED[crate.stem]
    with place.edited(f"biaslab/{module}.py", lambda text: text.replace(colour, recoloured(colour))):
        place.biaslab("run", "--from", crate, "--cores", 2)
    after = states(place)
    assert after.keys() == before.keys()
    changed = {name for name in after if after[name][1] != before[name][1] and not name.startswith("audit/")}
    assert changed, "the colour is not seen"
    assert all(name.rpartition("/")[2].startswith(figure) for name in changed), changed


def states(place: Elsewhere) -> dict[str, tuple[int, str]]:
    """Return when each result was written, and its digest."""
    files = {name: place.folder / RESULTS / name for name in result_files(place.folder / RESULTS)}
    return {name: (file.stat().st_mtime_ns, sha256_file(file)) for name, file in files.items()}


@pytest.mark.parametrize("crate", CRATES, ids=lambda path: path.stem)
def test_the_pictures_of_the_pages_are_those_of_the_record(crate):
    figures = record.FIGURES_OF_CRATES[crate.stem]
    assert figures
    with zipfile.ZipFile(crate) as archive:
        for picture, figure in figures.items():
            made = archive.read(f"{RESULTS}/{figure}.png")
            assert (ROOT / f"docs/images/{picture}.png").read_bytes() == made, picture


def test_these_are_the_crates():
    assert {path.stem for path in CRATES} == MADE_OF_THE_CRATE_ALONE.keys()
