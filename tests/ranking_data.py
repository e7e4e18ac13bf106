"""The results of a small simulation of the ranking area, made by its steps."""

from pathlib import Path

from biaslab.core.io import write_tsv
from biaslab.ranking.comparison import compare
from biaslab.ranking.feasibility import write_search
from biaslab.ranking.simulation import write_simulation
from biaslab.run.area import Unit
from report_data import CLAIMS

UNIT = Unit("ranking", files={"claims": str(CLAIMS / "ranking.tsv")})


def write_results(folder: Path) -> None:
    """Write every file that tables, figures and claims read."""
    simulate_small(folder, [2, 4])
    write_tsv(folder / "comparison.tsv", compare([2, 4], 6, 10, 10, 1))
    write_search(folder / "enumeration.tsv", (4, 8), (2, 4))


def simulate_small(folder: Path, sizes: list[int]) -> None:
    """Write what a simulation of 50 lists of 10 candidates for each number of values writes."""
    files = [folder / f"{name}.tsv" for name in ("simulation", "feasibility", "differences")]
    write_simulation(sizes, 50, 10, 10, 1, *files)
