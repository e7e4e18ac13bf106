"""The package as a user installs it: a wheel that carries the workflow, and an empty folder."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
import yaml

import biaslab
from biaslab.run.root import CARRIED
from dry_runs import jobs

ROOT = Path(__file__).parents[2]
NOT_BUILT = (".*", "__pycache__", "*.egg-info", "build", "results", "shared", "site", "tests")
pytestmark = pytest.mark.slow

RANKING = "areas: [ranking]\nranking: {attribute_values: [2], distributions: 2, candidates: 5, top: 5}\n"


def build(source: Path, out: Path, *options: str) -> Path:
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index"]
    subprocess.run([*command, *options, "--wheel-dir", out, source], check=True, capture_output=True)
    return next(out.glob("*.whl"))


def contents(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    """Return a copy of what a checkout has, so that a build leaves nothing in it."""
    folder = tmp_path_factory.mktemp("source") / "biaslab"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NOT_BUILT))
    return folder


@pytest.fixture(scope="module")
def wheel(source, tmp_path_factory) -> Path:
    return build(source, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def python(wheel, tmp_path_factory) -> Path:
    """Return the Python of an environment with the wheel; other packages are those of the running one."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, symlinks=True)
    site = next(folder.glob("lib/python*/site-packages"))
    (site / "others.pth").write_text(f"{sysconfig.get_path('purelib')}\n{sysconfig.get_path('platlib')}\n")
    command = [sys.executable, "-m", "pip", "--python", folder / "bin/python", "install"]
    subprocess.run([*command, "--no-deps", "--no-index", wheel], check=True, capture_output=True)
    return folder / "bin/python"


@pytest.fixture
def run(python, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def call(*arguments, code=0):
        command = [python.with_name("biaslab"), *map(str, arguments)]
        environment = variables | {"PIP_NO_INDEX": "1"}
        finished = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        assert finished.returncode == code, finished.stdout + finished.stderr
        return finished

    return call


# --- what is built


def test_the_wheel_carries_the_whole_workflow(wheel):
    found = contents(wheel)
    wanted = {"Snakefile", "config.yaml", "requirements.lock", "requirements-neural.lock"}
    for folder in ("config", "envs", "workflow"):
        files = [path for path in (ROOT / folder).rglob("*") if path.is_file()]
        wanted |= {str(path.relative_to(ROOT)) for path in files if "__pycache__" not in path.parts}
    prefix = f"biaslab/{CARRIED}/"
    carried = {name.removeprefix(prefix): data for name, data in found.items() if name.startswith(prefix)}
    assert set(carried) == wanted
    assert all(data == (ROOT / name).read_bytes() for name, data in carried.items())
    modules = {
        f"biaslab/{path.relative_to(ROOT / 'src/biaslab')}" for path in ROOT.glob("src/biaslab/**/*.py")
    }
    assert modules <= set(found)
    assert "biaslab/py.typed" in found


def test_the_source_distribution_builds_the_same_wheel(source, wheel, tmp_path):
    made = "import setuptools.build_meta as m, sys; m.build_sdist(sys.argv[1])"
    subprocess.run([sys.executable, "-c", made, tmp_path], cwd=source, check=True, capture_output=True)
    shutil.unpack_archive(next(tmp_path.glob("*.tar.gz")), tmp_path / "unpacked")
    again = build(next((tmp_path / "unpacked").iterdir()), tmp_path / "again")
    assert contents(again) == contents(wheel)


def test_metadata(wheel):
    name = next(name for name in contents(wheel) if name.endswith(".dist-info/METADATA"))
    metadata = Parser().parsestr(contents(wheel)[name].decode())
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert metadata["Version"] == biaslab.__version__ == citation["version"]
    assert metadata["License-Expression"] == citation["license"]


# --- what it does in an empty folder


def test_dry_runs_of_the_default_and_of_a_preset(run):
    counts = jobs(run("run", "-n", "--quiet", "rules"))
    assert counts["train_baseline"] == 2
    assert counts["audit"] == 1
    smoke = jobs(run("run", "--preset", "smoke", "-n", "--quiet", "rules"))
    assert smoke["train_without_set"] == 7
    assert {path.name for path in Path().iterdir()} <= {".snakemake"}


def test_commands_find_their_lists_and_examples(run):
    assert run("datasets", "list").stdout.startswith("name\tstate\t")
    words = ["she", "he", "her", "his", "woman", "man", "nurse", "doctor", "lawyer", "teacher"]
    values = [" ".join(str((i * k) % 7 - 3) for k in (1, 2, 3, 5)) for i in range(1, len(words) + 1)]
    rows = [f"{word} {value}" for word, value in zip(words, values, strict=True)]
    Path("vectors.txt").write_text("\n".join(rows) + "\n")
    assert f"{len(words)} words" in run("debiasing", "apply", "vectors.txt", "--out", "hard.txt").stdout
    Path("people.csv").write_text("score,sex\n" + "".join(f"{9 - i},{'fm'[i % 3 > 0]}\n" for i in range(9)))
    options = ["--score", "score", "--attribute", "sex", "--desired", "uniform", "--top", 4]
    run("ranking", "rerank", "people.csv", *options, "--out", "ranked.csv")
    assert len(Path("ranked.csv").read_text().splitlines()) == 5
    example = "workflow/resources/classifiers/example"
    table = [f"{example}.csv", "--schema", f"{example}.yaml", "--model", "train"]
    effort = ["--seeds", 5, "--hops", 5, "--tester", "random"]
    run("fairness-testing", "search", *table, *effort, "--out", "found")
    assert Path("found/summary.tsv").is_file()


def test_own_settings_are_run_here_and_nowhere_else(run, python):
    Path("config.yaml").write_text(RANKING)
    package = next(python.parents[1].glob("lib/python*/site-packages/biaslab"))
    before = {path: path.stat().st_mtime_ns for path in package.rglob("*") if "__pycache__" not in str(path)}
    run("run", "--cores", 1)
    after = {path: path.stat().st_mtime_ns for path in package.rglob("*") if "__pycache__" not in str(path)}
    assert after == before
    assert {path.name for path in Path().iterdir()} == {".snakemake", "config.yaml", "results"}
    manifest = json.loads(Path("results/audit/manifest.json").read_text())
    assert manifest["environment"]["git"] is None
    assert manifest["environment"]["packages"]["biaslab"] == biaslab.__version__
    assert manifest["config"]["areas"] == ["ranking"]
    again = run("run", "--cores", 1)
    assert "Nothing to be done" in again.stdout + again.stderr
    assert again.stderr.endswith("biaslab: the answers: results/audit/audit.html, results/ranking\n")


def test_an_environment_of_a_step_gets_the_installed_package(python, tmp_path):
    """What Snakemake runs in a new conda environment, here with no version to fetch."""
    installed = next(python.parents[1].glob("lib/python*/site-packages"))
    shutil.copytree(installed, tmp_path / "site", ignore=shutil.ignore_patterns("__pycache__"))
    carried = tmp_path / "site/biaslab" / CARRIED
    (carried / "requirements.lock").write_text("")
    environment = tmp_path / "environment"
    venv.create(environment, symlinks=True)
    site = next(environment.glob("lib/python*/site-packages"))
    (site / "others.pth").write_text((installed / "others.pth").read_text())
    variables = {"PATH": f"{environment}/bin:{os.environ['PATH']}", "BIASLAB_REPOSITORY": str(carried)}
    script = carried / "envs/biaslab.post-deploy.sh"
    subprocess.run(["bash", script], env=variables, check=True, capture_output=True)
    shown = "import biaslab, importlib.metadata as m; print(biaslab.__file__, m.requires('biaslab')[0])"
    command = [environment / "bin/python", "-c", shown]
    done = subprocess.run(command, env=variables, check=True, capture_output=True, text=True)
    assert str(site) in done.stdout
    command = ["biaslab", "datasets", "list"]
    done = subprocess.run(command, env=variables, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "enwiki-sample" in done.stdout
