"""Where the workflow's own files are: ``Snakefile``, ``config.yaml``, ``workflow/`` and ``envs/``."""

from pathlib import Path

PACKAGE = Path(__file__).parents[1]
CARRIED = "repository"
"""The folder of the package into which its build copies them."""

_MARKS = ("Snakefile", "workflow/schemas/claims.schema.yaml")


def repository(folder: Path = Path(), package: Path = PACKAGE) -> Path:
    """Return the current folder if it is a checkout, else what the package carries, else its checkout.

    Where there is none it is `folder` as well, so that what is missing is told by its plain name. A file that
    a user names is looked for in the current folder first and then here, see `biaslab.core.files.locate`.
    """
    places = (folder, package / CARRIED, package.parents[1])
    return next((place for place in places if is_repository(place)), folder)


def is_repository(folder: Path) -> bool:
    """Tell whether a folder holds the workflow."""
    return all((folder / mark).is_file() for mark in _MARKS)


def resource(name: str) -> Path:
    """Return a file or folder of ``workflow/resources``."""
    return repository() / "workflow/resources" / name


def located(argument: str) -> str:
    """Return an argument of a command, as the repository's path where it alone has what it names."""
    if (
        argument.startswith("workflow/")
        and not Path(argument).exists()
        and (repository() / argument).exists()
    ):
        return str(repository() / argument)
    return argument
