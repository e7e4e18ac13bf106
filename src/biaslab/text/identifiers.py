"""Read lists of group identifiers (words that name groups of people), and look up their WordPieces."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic.dataclasses import dataclass

from biaslab.core.errors import InputError
from biaslab.core.files import read_text, read_yaml
from biaslab.core.settings import PYDANTIC, validate

if TYPE_CHECKING:
    from biaslab.text.tokens import Tokenizer

SINGLE, LONGEST = "single", "longest"
"""The WordPiece that represents an identifier: its only piece, or the longest of several."""

_Term = Annotated[str, "an identifier in lower case, in quotes if need be"]


@dataclass(frozen=True, config=PYDANTIC)
class Identifiers:
    """A list of group identifiers, each represented by its only or its longest WordPiece."""

    terms: Annotated[
        tuple[_Term, ...], "the identifiers in lower case, each once; yes, no, true and false in quotes"
    ] = ()
    pieces: Annotated[Literal["single", "longest"], "the word pieces of an identifier"] = SINGLE
    title: Annotated[str, "the description of the list"] = ""
    source: Annotated[str, "its source"] = ""


def read_identifiers(path: str | os.PathLike) -> Identifiers:
    """Read a list of identifiers.

    A ``.yaml`` has ``terms`` and optionally ``pieces``, ``title`` and ``source``. A ``.txt`` has one term a
    line; empty lines and lines that begin with ``#`` are skipped.
    """
    path = Path(path)
    if path.suffix in (".yaml", ".yml"):
        identifiers = validate(Identifiers, read_yaml(path), str(path))
        _check_terms(identifiers.terms, [f"{path}: terms[{i}]" for i in range(len(identifiers.terms))], path)
        return identifiers
    if path.suffix == ".txt":
        lines = {i: line.strip() for i, line in enumerate(read_text(path, "word list").splitlines(), 1)}
        kept = {i: line for i, line in lines.items() if line and not line.startswith("#")}
        _check_terms(tuple(kept.values()), [f"{path}:{i}" for i in kept], path)
        return Identifiers(tuple(kept.values()))
    raise InputError(f"{path}: unknown format of word list; use a .yaml or .txt file")


def identifier_ids(identifiers: Identifiers, tokenizer: "Tokenizer") -> dict[str, int]:
    """Return the id of the encoder's WordPiece that represents each identifier."""
    ids, all_ids = {}, {piece: i for i, piece in enumerate(tokenizer.vocabulary)}
    for term in identifiers.terms:
        pieces = tokenizer.pieces(term)
        if not pieces or "[UNK]" in pieces:
            raise InputError(
                f"the identifier '{term}' is not in the encoder's vocabulary; remove it or choose another"
                " encoder"
            )
        if len(pieces) > 1 and identifiers.pieces != LONGEST:
            raise InputError(
                f"the identifier '{term}' is {len(pieces)} WordPieces ({' '.join(pieces)}); remove it, or"
                " write pieces: longest to regularize its longest piece, as the published code does"
            )
        # The published code counts the '##' of a piece, and takes the first of equally long pieces.
        ids[term] = all_ids[max(pieces, key=len)]
    return ids


def _check_terms(terms: Sequence[str], places: Sequence[str], path: Path) -> None:
    if not terms:
        raise InputError(f"{path}: the list has no terms; write at least one identifier")
    for i, term in enumerate(terms):
        if not term.strip() or term != term.strip():
            raise InputError(f"{places[i]}: '{term}' is empty or has blanks around it; write a word")
        if term != term.lower():
            raise InputError(
                f"{places[i]}: '{term}' has capital letters; write '{term.lower()}', for an uncased encoder"
            )
        if term in terms[:i]:
            raise InputError(f"{places[i]}: '{term}' appears twice; remove one")
