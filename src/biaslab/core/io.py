"""Write tables and arrays atomically, and read them without unpickling."""

import os
from tokenize import TokenError

import numpy as np
import pandas as pd

from biaslab.core.errors import InputError, one_line
from biaslab.core.files import DAMAGED_ZIP, atomic_path, check_whole, separator_hint

FLOAT_FORMAT = "%.10g"
MAX_PACKED_BYTES = 2**28
"""Maximum size of an array with a compression ratio above 100; arrays of biaslab are not compressed."""

_DAMAGED = (*DAMAGED_ZIP, OSError, AttributeError, MemoryError, SyntaxError, TokenError)
"""Exceptions of numpy for a damaged .npz file."""


def write_tsv(path: str | os.PathLike, table: pd.DataFrame) -> None:
    """Write a small table atomically as tab-separated values (floats with 10 digits, no index)."""
    table = table.copy(deep=False)
    for name in table.select_dtypes("floating").columns:
        table[name] = table[name] + 0.0  # no -0
    with atomic_path(path) as temporary:
        table.to_csv(temporary, sep="\t", index=False, float_format=FLOAT_FORMAT, lineterminator="\n")


def read_tsv(
    path: str | os.PathLike, columns: tuple[str, ...] = (), text: tuple[str, ...] = ()
) -> pd.DataFrame:
    """Read a tab-separated table; empty fields are missing, ``NA`` is text, and `text` columns stay text."""
    check_whole(path)
    try:
        table = pd.read_csv(
            path, sep="\t", keep_default_na=False, na_values=[""], dtype=dict.fromkeys(text, str)
        )
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; run the step that makes it first") from error
    except (ValueError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a tab-separated table ({one_line(error)})") from error
    missing = [column for column in columns if column not in table.columns]
    if missing:
        names = list(table.columns)
        hint = separator_hint(names, "\t")
        raise InputError(f"{path}: column '{missing[0]}' is missing (it has {', '.join(names)}){hint}")
    return table


def write_parquet(path: str | os.PathLike, table: pd.DataFrame) -> None:
    """Write a large table as Parquet, atomically."""
    with atomic_path(path) as temporary:
        table.to_parquet(temporary, index=False, compression="zstd")


def read_parquet(path: str | os.PathLike, columns: list[str] | None = None) -> pd.DataFrame:
    """Read a Parquet table, by default with all columns."""
    try:
        return pd.read_parquet(path, columns=columns)
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; run the step that makes it first") from error
    except (OSError, TypeError, ValueError, LookupError, NotImplementedError, MemoryError) as error:
        raise InputError(f"{path}: not a readable Parquet table ({one_line(error)})") from error


def write_npz(path: str | os.PathLike, **arrays: np.ndarray) -> None:
    """Write named arrays atomically, without compression and pickle; equal arrays give equal bytes."""
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def read_npz(path: str | os.PathLike, keys: tuple[str, ...] = ()) -> dict[str, np.ndarray]:
    """Read the arrays `keys`, by default all arrays, without unpickling."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            for member in archive.zip.infolist():  # a member never unpacks to more than its announced size
                if member.file_size > max(MAX_PACKED_BYTES, 100 * member.compress_size):
                    raise InputError(
                        f"{path}: {member.filename} unpacks to {member.file_size} bytes; refused"
                    )
            missing = [key for key in keys if key not in archive.files]
            if missing:
                raise InputError(
                    f"{path}: array '{missing[0]}' is missing (it has {', '.join(archive.files)});"
                    " regenerate the file"
                )
            return {key: archive[key] for key in (keys or archive.files)}
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file; run the step that makes it first") from error
    except _DAMAGED as error:
        reason = one_line(error).partition("; ")[0]
        if "pickle" in reason:  # numpy advises to unpickle, which would execute code of the file
            reason = "it holds objects, or is none"
        raise InputError(f"{path}: not a readable .npz file ({reason}); regenerate it") from error
