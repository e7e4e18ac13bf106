"""Puts the workflow into the package: what lies beside ``src/`` becomes ``biaslab/repository/``."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

CARRIED = ("Snakefile", "config.yaml", "requirements.lock", "requirements-neural.lock")
FOLDERS = ("config", "envs", "workflow")


class BuildWithWorkflow(build_py):
    """Copies the workflow beside the modules, but for an editable install, which finds it in the checkout."""

    def run(self) -> None:
        """Build the modules, then copy."""
        super().run()
        if self.editable_mode:
            return
        target = Path(self.build_lib) / "biaslab/repository"
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        for name in CARRIED:
            shutil.copy(name, target)
        for name in FOLDERS:
            shutil.copytree(name, target / name, ignore=shutil.ignore_patterns(".*", "__pycache__"))


setup(cmdclass={"build_py": BuildWithWorkflow})
