"""Options that several commands share, and commands that take whole groups of options."""

import dataclasses
import functools
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, get_args, get_type_hints

import typer

from biaslab.core.errors import InputError
from biaslab.core.settings import choices_of, fields_of, said_of
from biaslab.run.outputs import To

Seed = Annotated[int, typer.Option(help="Seed of the whole run; every random stream derives from it.", min=0)]
Threads = Annotated[int, typer.Option(help="Threads to use; the result does not depend on it.", min=1)]
Out = Annotated[Path, typer.Option(help="The file to write."), To.FILE]

# Corpora and embeddings
CorpusVocabulary = Annotated[Path, typer.Option(help="The vocabulary of the corpus (.tsv).")]
EmbeddingsVocabulary = Annotated[Path, typer.Option(help="The vocabulary of the embeddings (.tsv).")]

_KEYWORD = inspect.Parameter.KEYWORD_ONLY  # so that an option with a default may precede one without


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command take groups of options: the parameters whose annotation is a dataclass.

    Typer makes options from a signature. In the one it sees, such a parameter gives way to the fields of the
    dataclass, each annotated as a parameter would be; the command itself gets an instance.

    Returns
    -------
    callable
        The command with every option by itself, to be called with keywords.

    Raises
    ------
    ValueError
        When two options have one name.
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {name: _fields(hint) for name, hint in hints.items() if dataclasses.is_dataclass(hint)}
    options: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        options += groups.get(name, [parameter.replace(kind=_KEYWORD)])

    @functools.wraps(command)
    def run(**values: object) -> None:
        made = {
            name: hints[name](**{field.name: values.pop(field.name) for field in fields})
            for name, fields in groups.items()
        }
        command(**values, **made)

    run.__signature__ = inspect.Signature(options)
    run.__annotations__ = {option.name: option.annotation for option in options}
    return run


def numbers(text: str, option: str, kind: type, example: str) -> list:
    """Read numbers that an option separates by commas.

    Parameters
    ----------
    option, example : str
        What messages call the option, and what they propose.
    """
    try:
        return [kind(part) for part in text.split(",")] if text else []
    except ValueError as error:
        what = "whole numbers" if kind is int else "numbers"
        raise InputError(f"{option} {text}: not {what}; write for instance {example}") from error


def _option(kind: object) -> object:
    """Return the annotation of a field for Typer: what is said of a setting becomes an option."""
    said = said_of(kind)
    if said is None:
        return kind
    choices = choices_of(kind)
    text = said.description if choices else said.description[:1].upper() + said.description[1:]
    plain = str if choices else get_args(kind)[0]
    return Annotated[plain, typer.Option(help=f"{text}.", min=said.ge, max=said.le)]


def _fields(group: type) -> list[inspect.Parameter]:
    """Return the fields of a dataclass as parameters."""
    hints = {name: _option(kind) for name, kind in fields_of(group).items()}
    return [
        inspect.Parameter(
            field.name,
            _KEYWORD,
            default=inspect.Parameter.empty if field.default is dataclasses.MISSING else field.default,
            annotation=hints[field.name],
        )
        for field in dataclasses.fields(group)
    ]
