"""Write a run as an archive for others: a Workflow Run Crate."""

import json
import tempfile
import zipfile
from collections.abc import Collection, Sequence
from datetime import datetime
from pathlib import Path

from biaslab.core.errors import InputError
from biaslab.core.files import atomic_path, write_json, write_text
from biaslab.run.record.manifest import MANIFEST
from biaslab.run.record.provenance import sha256_file
from biaslab.run.record.records import RECORDS, records_text
from biaslab.run.travel.crate import ARCHIVE, METADATA, RESULTS
from biaslab.run.travel.crate.contents import Packed, Record, read_record, workflow_files
from biaslab.run.travel.crate.graph import describe

_LEVEL = 6
_IS_FOLDER = 0x10  # attribute of MS-DOS


def write_crate(
    results: Path, out: Path, root: Path, more: Collection[str] = (), leave_out: Collection[str] = ()
) -> list[str]:
    """Write the crate of a run, with equal bytes for equal runs; return notices for its readers.

    The archive `out` (``.zip``) replaces an existing one. With `more` types of results (see
    `contents.is_packed`), another run can continue from the crate. For results that match a pattern in
    `leave_out`, the crate contains only digests.
    """
    if out.resolve().is_relative_to(results.resolve()):
        raise InputError(f"{out}: lies in the results folder; name another place")
    if out.suffix != ARCHIVE:
        raise InputError(f"{out}: a crate is an archive; end the name with {ARCHIVE}")
    record = read_record(results, more, leave_out)
    with tempfile.TemporaryDirectory(prefix="biaslab-crate-") as temporary:
        files = [*workflow_files(root), *_written(record, Path(temporary))]
        metadata, notices = describe(record, files, root)
        text = json.dumps(metadata, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
        write_text(Path(temporary, METADATA), text)
        contents = sorted((file.place, file.source) for file in [*files, *record.outputs])
        contents.insert(0, (METADATA, Path(temporary, METADATA)))
        # Readers expect an entry for each folder in the metadata.
        names = (entity["@id"] for entity in metadata["@graph"])
        folders = sorted(n for n in names if n.endswith("/") and n != "./" and ":" not in n)
        _write_archive(out, contents, folders, record.ended)
    return notices


def _written(record: Record, folder: Path) -> list[Packed]:
    """Write additional files to a folder: records of steps, and the manifest of an unfinished run."""
    files = {}
    if record.steps:
        files[RECORDS] = folder / RECORDS
        write_text(files[RECORDS], records_text(record.steps))
    if not record.is_whole:
        files[f"{RESULTS}/{MANIFEST}"] = folder / MANIFEST
        write_json(folder / MANIFEST, record.manifest)
    return [Packed(place, file, sha256_file(file)) for place, file in files.items()]


def _write_archive(
    out: Path, contents: Sequence[tuple[str, Path]], folders: Sequence[str], ended: datetime
) -> None:
    """Write a zip archive with members that are all dated to the end of the run."""
    time = max(ended.timetuple()[:6], (1980, 1, 1, 0, 0, 0))
    with atomic_path(out) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for place, source in contents:
            member = zipfile.ZipInfo(place, time)
            member.compress_type, member.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            archive.writestr(member, source.read_bytes(), compresslevel=_LEVEL)
        for folder in folders:
            member = zipfile.ZipInfo(folder, time)
            member.external_attr = 0o40755 << 16 | _IS_FOLDER
            archive.writestr(member, b"")
