"""Pin processor-dependent code paths before the libraries that have them are imported.

numba, numpy, OpenBLAS, torch with MKL and oneDNN, and Arrow choose instructions by processor. Sums are then
grouped differently, and the last bits of results differ between machines. This module restricts the libraries
to the instructions of every x86-64-v3 machine (AVX2 and FMA: Intel since 2013, AMD since 2015). It sets the
environment variables that they read at import. The package calls `pin` when it is imported, and child
processes inherit the variables.

With BIASLAB_CPU=native the libraries choose. Variables that are set already are kept.
On other platforms (arm64, x86-64 without AVX2, other systems than Linux) nothing is pinned.
"""

import os
import re
import sys
from importlib.util import find_spec
from pathlib import Path

from biaslab.core.errors import InputError

VARIABLE = "BIASLAB_CPU"  # the environment variable with the target processor of the results

TARGET = "x86-64-v3"
NATIVE = "native"

_FLAGS = {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe", "xsave"}
"""Linux flags of the instructions that x86-64-v3 adds to x86-64-v2."""

_VARIABLES = {
    "NUMBA_CPU_NAME": TARGET,
    "NUMBA_CPU_FEATURES": "",  # no features beyond those of the CPU name
    "NUMBA_DISABLE_INTEL_SVML": "1",  # another function library, installed on some machines only
    "OPENBLAS_CORETYPE": "Haswell",  # numpy's and scipy's copy; Zen has the same kernels, other blocks
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_CBWR": "COMPATIBLE",  # the only branch that Intel and AMD share
    "ARROW_USER_SIMD_LEVEL": "AVX2",
}
_NUMPY, _NUMPY_OTHER = "NPY_ENABLE_CPU_FEATURES", "NPY_DISABLE_CPU_FEATURES"  # numpy refuses both at once
_READERS = ("numpy", "numba", "scipy", "torch", "pyarrow")
_too_late: list[str] = []


def pin() -> None:
    """Set the variables, unless the machine lacks the target's instructions or BIASLAB_CPU is native."""
    if target() == TARGET:
        missing = {name: value for name, value in _pinned().items() if name not in os.environ}
        if missing:
            _too_late.extend(name for name in _READERS if name in sys.modules)
        os.environ.update(missing)


def target() -> str:
    """Return the target of the results: "x86-64-v3", "native", or the architecture of other machines."""
    if os.environ.get(VARIABLE) == NATIVE:
        return NATIVE
    return TARGET if _has_target() else os.uname().machine


def check() -> None:
    """Raise InputError if BIASLAB_CPU is no valid target, because other values would be ignored."""
    value = os.environ.get(VARIABLE, "")
    if value not in {"", NATIVE, TARGET}:
        raise InputError(f"{VARIABLE}={value}: there is no such target; write {TARGET} or {NATIVE}")


def state() -> dict[str, object]:
    """Return the state of the pinning, for the manifest of a run.

    ``pinned`` are the variables with the values of `pin`, ``set_by_user`` those with other values, and
    ``too_late`` the libraries imported before the package, which may not have read the variables.
    """
    ours = _pinned() if target() == TARGET else {}
    variables = {name: os.environ[name] for name in [*_VARIABLES, _NUMPY, _NUMPY_OTHER] if name in os.environ}
    return {
        "target": target(),
        "pinned": {name: value for name, value in variables.items() if ours.get(name) == value},
        "set_by_user": {name: value for name, value in variables.items() if ours.get(name) != value},
        "too_late": list(_too_late),
    }


def _pinned() -> dict[str, str]:
    features = {} if _NUMPY_OTHER in os.environ else {_NUMPY: _numpy_features()}
    return _VARIABLES | features


def _numpy_features() -> str:
    """Return the target's instructions by the names of the installed numpy, which warns of other names."""
    try:
        spec = find_spec("numpy")
    except ModuleNotFoundError:  # hidden by an import hook; planning does not need numpy
        spec = None
    text = Path(spec.origin).with_name("version.py").read_text(encoding="utf-8") if spec else ""
    version = re.search(r"^version = \"(\d+)\.(\d+)", text, flags=re.MULTILINE)
    if version and (int(version[1]), int(version[2])) < (2, 4):
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
