"""Read lists of group identifiers (words that name groups of people), and look up their WordPieces."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from biaslab.core.errors import InputError
from biaslab.core.files import read_text, read_yaml
from biaslab.core.schema import check_schema

if TYPE_CHECKING:
    from biaslab.text.tokens import Tokenizer

SINGLE, LONGEST = "single", "longest"
"""The WordPiece that represents an identifier: its only piece, or the longest of several."""

_SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "description": "terms, pieces",
    "properties": {
        "title": {"type": "string", "description": "the description of the list"},
        "source": {"type": "string", "description": "its source"},
        "terms": {
            "type": "array",
            "description": "the identifiers in lower case; yes, no, true and false in quotes",
            "items": {"type": "string", "description": "an identifier in lower case, in quotes if need be"},
        },
        "pieces": {"enum": [SINGLE, LONGEST], "description": "the word pieces of an identifier"},
    },
}


@dataclass(frozen=True)
class Identifiers:
    """A list of group identifiers, each represented by its only or its longest WordPiece."""

    terms: tuple[str, ...]  # lower case, each once
    pieces: Literal["single", "longest"] = SINGLE


def read_identifiers(path: str | os.PathLike) -> Identifiers:
    """Read a list of identifiers.

    A ``.yaml`` has ``terms`` and optionally ``pieces``, ``title`` and ``source``. A ``.txt`` has one term a
    line; empty lines and lines that begin with ``#`` are skipped.
    """
    path = Path(path)
    if path.suffix in (".yaml", ".yml"):
        value = read_yaml(path)
        check_schema(value, _SCHEMA, str(path))
        places = {i: f"{path}: terms[{i}]" for i in range(len(value.get("terms", [])))}
        return Identifiers(_check_terms(value.get("terms", []), places, path), value.get("pieces", SINGLE))
    if path.suffix == ".txt":
        lines = {i: line.strip() for i, line in enumerate(read_text(path, "word list").splitlines(), 1)}
        kept = {i: line for i, line in lines.items() if line and not line.startswith("#")}
        places = {k: f"{path}:{i}" for k, i in enumerate(kept)}
        return Identifiers(_check_terms(list(kept.values()), places, path))
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


def _check_terms(terms: list[str], places: dict[int, str], path: Path) -> tuple[str, ...]:
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
    return tuple(terms)
