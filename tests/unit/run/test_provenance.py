import ast
import subprocess
import sys

import pytest

from biaslab.run.record import provenance
from biaslab.run.record.provenance import environment, gpu_models
from biaslab.run.root import PACKAGE


def test_environment_names_software_machine_and_threads(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    found = environment()
    of_machine = {"platform", "cpu", "cpus", "gpus", "processor", "threads"}
    assert set(found) == of_machine | {"python", "packages", "git"}
    assert found["threads"]["OMP_NUM_THREADS"] == "3"
    assert {"biaslab", "numpy", "snakemake"} <= set(found["packages"])
    assert found["processor"]["target"]
    assert "pytest" not in found["packages"]
    assert found["cpu"]


@pytest.mark.slow
def test_environment_lists_what_the_package_imports():
    """All but crates, which no step writes, and what other packages bring."""
    no_step = {"rocrate", "llvmlite", "threadpoolctl", "urllib3", "snakemake_interface_logger_plugins"}
    no_step |= {"annotated_types", "pydantic_core", "typing_extensions"}
    imported = {
        module.split(".")[0]
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for module in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module]
            if isinstance(node, ast.ImportFrom) and node.module and not node.level
            else []
        )
    }
    distributions = {"yaml": "pyyaml", "sklearn": "scikit-learn"}
    others = imported - set(sys.stdlib_module_names) - no_step
    packages = environment()["packages"]
    assert {"torch", "transformers", "tokenizers", "safetensors"} <= set(packages)
    assert {distributions.get(name, name) for name in others} - set(packages) == set()


def test_git_state_tells_a_changed_checkout(tmp_path):
    def git(*arguments):
        identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
        subprocess.run(["git", "-C", tmp_path, *identity, *arguments], check=True, capture_output=True)

    assert provenance.git_state(tmp_path / "nowhere") is None
    git("init", "-q")
    (tmp_path / "a").write_text("1")
    git("add", "a")
    git("commit", "-q", "-m", "first")
    (tmp_path / "untracked").write_text("1")
    clean = provenance.git_state(tmp_path)
    assert len(clean["commit"]) == 40
    assert clean["dirty"] is False
    (tmp_path / "a").write_text("2")
    assert provenance.git_state(tmp_path) == {"commit": clean["commit"], "dirty": True}


def test_git_may_be_absent(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert environment()["git"] is None


def test_the_models_of_gpus_are_those_that_the_driver_names(tmp_path):
    assert gpu_models(tmp_path) == []
    for place, text in {"0": "Model: \t\t NVIDIA H200\nIRQ:   \t\t 40\n", "1": "IRQ: 41\n"}.items():
        folder = tmp_path / "gpus" / place
        folder.mkdir(parents=True)
        (folder / "information").write_text(text)
    assert gpu_models(tmp_path) == ["NVIDIA H200"]
