"""What depends on the processor is pinned before anything reads it, and a user's choice stays."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from biaslab.core import processor
from biaslab.core.errors import InputError

needs_target = pytest.mark.skipif(
    not processor._has_target(), reason="no x86-64-v3 machine with Linux: another target"
)


def python(code: str, **environment: str) -> str:
    """Return what a fresh Python says, which inherits nothing that is pinned here."""
    free = {
        name: value
        for name, value in os.environ.items()
        if name not in {*processor._VARIABLES, processor._NUMPY, processor._NUMPY_OTHER, processor.VARIABLE}
    }
    command = [sys.executable, "-W", "error::ImportWarning", "-c", code]
    done = subprocess.run(command, env=free | environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def state(code: str = "", **environment: str) -> dict:
    show = "import json; from biaslab.core import processor; print(json.dumps(processor.state()))"
    return json.loads(python(f"{code}\n{show}", **environment))


LIBRARIES = """
import biaslab, importlib.util, json, numpy, pyarrow, scipy.linalg, threadpoolctl
from biaslab.core import processor
from numba.core.registry import cpu_target
from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__
has_torch = importlib.util.find_spec("torch")
if has_torch:
    import torch
print(json.dumps({
    "torch": torch.backends.cpu.get_cpu_capability() if has_torch else "AVX2",
    "numba": cpu_target.target_context.codegen().magic_tuple()[1:],
    "numpy": " ".join(name for name in __cpu_dispatch__ if __cpu_features__[name]),
    "openblas": [one["architecture"] for one in threadpoolctl.threadpool_info() if one["user_api"] == "blas"],
    "arrow": pyarrow.runtime_info().simd_level,
    "state": processor.state(),
}))
"""


@pytest.mark.slow
@needs_target
def test_libraries_take_no_more_than_the_target_has_do_not_warn_and_a_run_says_so():
    said = json.loads(python(LIBRARIES))
    assert said["numba"] == ["x86-64-v3", ""]
    assert said["numpy"] == processor._numpy_features()
    assert set(said["openblas"]) == {"Haswell"}
    assert (said["arrow"], said["torch"]) == ("avx2", "AVX2")
    pinned = {"target": "x86-64-v3", "pinned": processor._pinned(), "set_by_user": {}, "too_late": []}
    assert said["state"] == pinned


@pytest.mark.slow
@needs_target
def test_key_of_kernels_follows_the_target_and_not_the_machine():
    key = """
from biaslab.core import jit, kernel_cache
from numba.core.registry import cpu_target
print(kernel_cache._key("", cpu_target.target_context.codegen().magic_tuple()))
"""
    another = """
import biaslab, llvmlite.binding
llvmlite.binding.get_host_cpu_name = lambda: "haswell"
"""
    assert python(another + key) == python(key)
    native = {"BIASLAB_CPU": "native"}
    assert python(another + key, **native) != python(key, **native), "the machine is another"


@needs_target
def test_what_the_user_has_set_stays_and_is_told():
    said = state(OPENBLAS_CORETYPE="Zen", NPY_DISABLE_CPU_FEATURES="X86_V4")
    assert said["set_by_user"] == {"OPENBLAS_CORETYPE": "Zen", "NPY_DISABLE_CPU_FEATURES": "X86_V4"}
    assert "NUMBA_CPU_NAME" in said["pinned"]
    assert "NPY_ENABLE_CPU_FEATURES" not in said["pinned"], "numpy refuses both"
    python("import biaslab, numpy", NPY_DISABLE_CPU_FEATURES=processor._numpy_features())


def test_native_pins_nothing():
    said = state(BIASLAB_CPU="native")
    assert said == {"target": "native", "pinned": {}, "set_by_user": {}, "too_late": []}


@needs_target
def test_a_library_that_was_imported_first_is_told():
    assert state("import numpy")["too_late"] == ["numpy"]
    assert state("import numpy", **processor._pinned())["too_late"] == []


def test_other_machines_are_targets_of_their_own(monkeypatch):
    monkeypatch.delenv("BIASLAB_CPU", raising=False)
    monkeypatch.setattr(processor, "_has_target", lambda: False)
    assert processor.target() == os.uname().machine
    assert processor.state()["pinned"] == {}


def test_a_processor_without_fma_is_none_of_the_target(monkeypatch, tmp_path):
    monkeypatch.setattr(processor, "_FLAGS", processor._FLAGS | {"none has this"})
    assert not processor._has_target()


@pytest.mark.parametrize(
    ("version", "features"), [("2.3.5", "AVX2"), ("2.4.0", "X86_V3"), ("3.0.0", "X86_V3")]
)
def test_names_of_instructions_follow_the_version_of_numpy(monkeypatch, tmp_path, version, features):
    (tmp_path / "numpy").mkdir()
    (tmp_path / "numpy/__init__.py").touch()
    (tmp_path / "numpy/version.py").write_text(f'version = "{version}"\n__version__ = version\n')
    monkeypatch.delitem(sys.modules, "numpy", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    assert features in processor._numpy_features().split()


def test_an_unknown_target_is_refused(monkeypatch):
    monkeypatch.setenv("BIASLAB_CPU", "Native")
    with pytest.raises(InputError, match=r"BIASLAB_CPU=Native: .*x86-64-v3 or native"):
        processor.check()
    command = [sys.executable, "-m", "biaslab", "cache", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_nothing_heavy_is_imported_to_pin():
    code = "import biaslab, sys; print({'numpy', 'numba', 'torch', 'importlib.metadata'} & set(sys.modules))"
    assert python(code) == "set()"


ROOT = Path(__file__).parents[3]
SCRIPTS = sorted([*(ROOT / "docs").glob("*.py"), *(ROOT / "benchmarks").glob("*.py")])
DEPENDS = {"numpy", "pandas", "scipy", "numba", "torch", "sklearn", "pyarrow", "gensim", "matplotlib"}


@pytest.mark.parametrize("script", SCRIPTS, ids=[path.name for path in SCRIPTS])
def test_a_script_imports_the_package_before_what_depends_on_the_processor(script):
    tree = ast.parse(script.read_text(encoding="utf-8"))
    names = []
    for node in tree.body:
        if isinstance(node, ast.Import):
            names += [alias.name.partition(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append((node.module or "").partition(".")[0])
    heavy = [name for name in names if name in DEPENDS | {"biaslab"}]
    assert "biaslab" not in heavy or heavy[0] == "biaslab"
