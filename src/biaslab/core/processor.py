"""The code paths that depend on the processor, pinned before the first library that has them is imported.

numba, numpy, OpenBLAS, torch with MKL and oneDNN, and Arrow look at the processor and choose instructions,
so sums are grouped differently and the last bits of results differ from machine to machine. Here they are
told to take what every x86-64-v3 machine has (AVX2 and FMA: Intel since 2013, AMD since 2015), by the
environment variables that they read when they are imported. The package calls `pin` when it is imported;
processes that it starts inherit the variables.

BIASLAB_CPU=native leaves everything to the libraries. A variable that is set already stays as it is.
Other processors (arm64, x86-64 before AVX2, any but Linux's) are targets of their own: nothing is pinned.
"""

import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path

from biaslab.core.errors import InputError

VARIABLE = "BIASLAB_CPU"
"""The environment variable that says for which processors results are made."""

TARGET = "x86-64-v3"
NATIVE = "native"

_FLAGS = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}
"""What Linux calls the instructions that x86-64-v3 has beyond x86-64-v2."""

_VARIABLES = {
    "NUMBA_CPU_NAME": TARGET,
    "NUMBA_CPU_FEATURES": "",  # no more than those of the name
    "NUMBA_DISABLE_INTEL_SVML": "1",  # another library of functions, where it happens to be installed
    "OPENBLAS_CORETYPE": "Haswell",  # numpy's and scipy's copy; a Zen has the same kernels, other blocks
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_CBWR": "COMPATIBLE",  # the one branch that Intel's and AMD's processors share
    "ARROW_USER_SIMD_LEVEL": "AVX2",
}
_NUMPY, _NUMPY_OTHER = "NPY_ENABLE_CPU_FEATURES", "NPY_DISABLE_CPU_FEATURES"  # numpy refuses both at once
_READERS = ("numpy", "numba", "scipy", "torch", "pyarrow")
_too_late: list[str] = []


def pin() -> None:
    """Set the variables, unless the machine is none of the target's or its own code paths are asked for."""
    if target() == TARGET:
        missing = {name: value for name, value in _pinned().items() if name not in os.environ}
        if missing:
            _too_late.extend(name for name in _READERS if name in sys.modules)
        os.environ.update(missing)


def target() -> str:
    """Return what results are made for: "x86-64-v3", "native", or the kind of a machine of neither."""
    if os.environ.get(VARIABLE) == NATIVE:
        return NATIVE
    return TARGET if _has_target() else os.uname().machine


def check() -> None:
    """Raise InputError when BIASLAB_CPU names nothing, which would pass for the other choice."""
    given = os.environ.get(VARIABLE, "")
    if given not in {"", NATIVE, TARGET}:
        raise InputError(f"{VARIABLE}={given}: there is no such target; write {TARGET} or {NATIVE}")


def state() -> dict[str, object]:
    """Return what a record of a run must say.

    ``pinned`` are the variables as `pin` sets them; ``set_by_user``, those that had another value before,
    which stays; ``too_late``, libraries that were imported before the package and so may not have read them.
    """
    ours = _pinned() if target() == TARGET else {}
    found = {name: os.environ[name] for name in [*_VARIABLES, _NUMPY, _NUMPY_OTHER] if name in os.environ}
    return {
        "target": target(),
        "pinned": {name: value for name, value in found.items() if ours.get(name) == value},
        "set_by_user": {name: value for name, value in found.items() if ours.get(name) != value},
        "too_late": list(_too_late),
    }


def _pinned() -> dict[str, str]:
    features = {} if _NUMPY_OTHER in os.environ else {_NUMPY: _numpy_features()}
    return _VARIABLES | features


def _numpy_features() -> str:
    """Return the target's instructions as the installed numpy calls them; it warns of other names."""
    try:
        spec = find_spec("numpy")
    except ModuleNotFoundError:  # hidden by a finder; a run is planned without it
        spec = None
    text = Path(spec.origin).with_name("version.py").read_text(encoding="utf-8") if spec else ""
    found = re.search(r"^version = \"(\d+)\.(\d+)", text, flags=re.MULTILINE)
    if found and (int(found[1]), int(found[2])) < (2, 4):
        return "SSSE3 SSE41 POPCNT SSE42 AVX F16C FMA3 AVX2"
    return "X86_V3"


def _has_target() -> bool:
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        return False
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            flags = next((line for line in file if line.startswith("flags")), "")
    except OSError:
        return False
    return set(flags.split()) >= _FLAGS
