"""Locate the files of the workflow: ``Snakefile``, ``config.yaml``, ``workflow/`` and ``envs/``."""

from pathlib import Path

PACKAGE = Path(__file__).parents[1]
CARRIED = "repository"  # the folder of the package into which the build copies these files

_MARKS = ("Snakefile", "workflow/schemas/claims.schema.yaml")


def repository(folder: Path = Path(), package: Path = PACKAGE) -> Path:
    """Return the current folder if it is a checkout, else the package's copy, else the package's checkout.

    Without any of these, return `folder`, so that messages name missing files by their plain names. Files
    of users are searched in the current folder first and then here, see `biaslab.core.files.locate`.
    """
    candidates = (folder, package / CARRIED, package.parents[1])
    return next((candidate for candidate in candidates if is_repository(candidate)), folder)


def is_repository(folder: Path) -> bool:
    """Return whether a folder contains the workflow."""
    return all((folder / mark).is_file() for mark in _MARKS)


def located(argument: str) -> str:
    """Return a command argument, below the repository if it names a file that exists only there."""
    if (
        argument.startswith("workflow/")
        and not Path(argument).exists()
        and (repository() / argument).exists()
    ):
        return str(repository() / argument)
    return argument
