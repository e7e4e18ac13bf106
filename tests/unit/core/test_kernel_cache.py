"""Compiled kernels on disk: found again, never stale, never in the way."""

import ast
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

import biaslab
from biaslab.cli import app
from biaslab.core import kernel_cache
from biaslab.core.errors import InputError

PACKAGE = Path(biaslab.__file__).parent
CORE = ("__init__", "cache", "errors", "jit", "kernel_cache", "processor")
COPIED = ["__init__.py", *(f"core/{name}.py" for name in CORE)]
CALLEE = """
from biaslab.core.jit import kernel

@kernel
def scaled(x):
    return x * 3.0
"""
CALLERS = """
from biaslab.area._scale_kernels import scaled
from biaslab.core.jit import kernel, parallel_kernel, prange, reassociating_kernel

def _total(x):
    total = 0.0
    for i in range(x.size):
        total += scaled(x[i])
    return total

TOTAL = {False: kernel(_total), True: reassociating_kernel(_total)}

@parallel_kernel
def scale_all(x, out):
    for i in prange(x.size):
        out[i] = scaled(x[i])
"""
RUN = """
import json, sys
import numpy as np
from biaslab.area import _total_kernels as kernels

def result():
    x, out = np.random.default_rng(1).normal(size=1001), np.empty(1001)
    kernels.scale_all(x, out)
    totals = [TOTAL(x).hex() for TOTAL in kernels.TOTAL.values()]
    return out.tobytes().hex() + " ".join(totals), totals

bytes_, totals = result()
dispatchers = [kernels.scaled, kernels.scale_all, *kernels.TOTAL.values()]
stats = [dispatcher.stats for dispatcher in dispatchers] if hasattr(kernels.scaled, "stats") else []
count = lambda which: sum(sum(getattr(s, which).values()) for s in stats)
print(json.dumps([bytes_, totals, count("cache_hits"), count("cache_misses")]))
"""
N_OVERLOADS = 4
"""What RUN compiles: the callee, its caller decorated twice, and the parallel one."""
SERIAL = RUN.replace("    kernels.scale_all(x, out)\n", "")
"""RUN without the parallel kernel, which takes longest to compile."""


class Result(NamedTuple):
    bytes: str
    totals: list[str]
    hits: int
    misses: int


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """A package with two modules of kernels, and the cache that a process filled which ran them."""
    folder = tmp_path_factory.mktemp("template")
    for name in COPIED:
        (folder / "src/biaslab" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PACKAGE / name, folder / "src/biaslab" / name)
    (folder / "src/biaslab/area").mkdir()
    (folder / "src/biaslab/area/__init__.py").touch()
    (folder / "src/biaslab/area/_scale_kernels.py").write_text(CALLEE)
    (folder / "src/biaslab/area/_total_kernels.py").write_text(CALLERS)
    return folder, run(folder)


@pytest.fixture
def place(template, tmp_path):
    return Path(shutil.copytree(template[0], tmp_path / "place"))


@pytest.fixture
def cold(template):
    return template[1]


def run(place, script=RUN, **environment):
    environment = {
        **os.environ,
        "PYTHONPATH": str(place / "src"),
        "PYTHONDONTWRITEBYTECODE": "1",  # Python sees no edit within a second that leaves the size
        "BIASLAB_CACHE": str(place / "cache"),
        **environment,
    }
    command = [sys.executable, "-c", script]
    process = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=place, check=False)
    assert (process.returncode, process.stderr) == (0, "")
    return Result(*json.loads(process.stdout))


def write_kernels(place, module, code):
    imports = "from biaslab.core.jit import kernel, parallel_kernel, prange\n"
    (place / f"src/biaslab/area/{module}.py").write_text(imports + code)


def call(place, module, name, argument, prelude=""):
    """Return what a kernel returns in a new process, and its hits and misses in the cache."""
    found = run(place, f"""{prelude}
import json
import numpy as np
from biaslab.area.{module} import {name}
found, stats = {name}({argument}), {name}.stats
print(json.dumps([found, [], sum(stats.cache_hits.values()), sum(stats.cache_misses.values())]))
""")  # fmt: skip
    return found.bytes, found.hits, found.misses


def edit(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def files(place):
    return sorted((place / "cache").rglob("*.kernel"))


def test_warm_process_of_other_threads_elsewhere_compiles_nothing_and_computes_the_same_bytes(place, cold):
    assert (cold.hits, cold.misses) == (0, N_OVERLOADS)
    warm = run(place, NUMBA_NUM_THREADS="1")
    assert (warm.hits, warm.misses) == (N_OVERLOADS - 1, 0)  # the callee is part of its callers
    assert warm.bytes == cold.bytes


def test_edited_callee_of_another_file_is_compiled_anew_in_its_callers(place, cold):
    edit(place / "src/biaslab/area/_scale_kernels.py", "3.0", "5.0")
    edited = run(place)
    assert (edited.hits, edited.misses) == (0, N_OVERLOADS)
    ratio = float.fromhex(edited.totals[0]) / float.fromhex(cold.totals[0])
    assert ratio == pytest.approx(5 / 3, rel=1e-12)
    edit(place / "src/biaslab/area/_scale_kernels.py", "5.0", "3.0")
    assert run(place).misses == 0, "code of before the edit is good again"


@pytest.mark.slow
def test_code_of_an_edit_during_a_run_is_not_kept_as_the_new(place, cold):
    """A process that imported the kernels before the edit compiles what they were."""
    path = place / "src/biaslab/area/_scale_kernels.py"
    edit_then_run = f"""
from pathlib import Path
from biaslab.area import _total_kernels
path = Path({str(path)!r})
path.write_text(path.read_text().replace("3.0", "5.0"))
{RUN}"""
    during = run(place, edit_then_run)
    assert (during.bytes, during.hits) == (cold.bytes, 0)
    assert len(files(place)) == N_OVERLOADS
    after = run(place)
    assert (after.hits, after.misses) == (0, N_OVERLOADS)
    assert after.totals != cold.totals


@pytest.mark.slow
def test_other_settings_processors_and_versions_have_code_of_their_own(place):
    assert run(place, NUMBA_OPT="2").hits == 0
    assert run(place, NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="").hits == 0
    assert len(files(place)) == 3 * N_OVERLOADS
    assert run(place, f"import numba, llvmlite; llvmlite.__version__ = '0'\n{SERIAL}").hits == 0
    assert run(place, f"import numba; numba.__version__ = '0'\n{SERIAL}").hits == 0


@pytest.mark.slow
@pytest.mark.parametrize(("argument", "pair"), [("Pair(1.0, 2.0)", "x"), ("(Pair(1.0, 2.0), 0)", "x[0]")])
def test_fields_of_named_tuples_from_other_files_are_kept_apart(place, argument, pair):
    """Their class may be edited, and no file of kernels with it."""
    path = place / "src/biaslab/area/pair.py"
    path.write_text("import typing\nPair = typing.NamedTuple('Pair', [('a', float), ('b', float)])\n")
    write_kernels(place, "_pair_kernels", f"@kernel\ndef difference(x):\n    return {pair}.a - {pair}.b\n")
    call_difference = partial(call, place, "_pair_kernels", "difference", argument)
    prelude = "from biaslab.area.pair import Pair"
    assert call_difference(prelude)[:2] == (-1.0, 0)
    assert call_difference(prelude)[:2] == (-1.0, 1)
    edit(path, "[('a', float), ('b', float)]", "[('b', float), ('a', float)]")
    assert call_difference(prelude)[0] == 1.0


@pytest.mark.slow
def test_processes_that_start_at_once_leave_a_whole_cache(place, cold):
    shutil.rmtree(place / "cache")
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(run, [place] * 2))
    assert {result.bytes for result in results} == {cold.bytes}
    assert len(files(place)) == N_OVERLOADS
    assert [path for path in (place / "cache").rglob("*") if path.name.startswith(".")] == []
    assert run(place).misses == 0


def _damage(place):
    empty, truncated, head, tail = files(place)
    empty.write_bytes(b"")
    truncated.write_bytes(truncated.read_bytes()[:1000])
    head.write_bytes(b"?" + head.read_bytes()[1:])
    tail.write_bytes(tail.read_bytes()[:-1] + b"?")


def _open_files(place):
    for path in files(place):
        path.chmod(0o620)


def _link(place):
    (place / "cache/kernels").rename(place / "elsewhere")
    (place / "cache/kernels").symlink_to(place / "elsewhere")


UNUSABLE = {
    "damaged": (_damage, ""),
    "files that others can write": (_open_files, ""),
    "a folder that others can write": (lambda place: (place / "cache/kernels").chmod(0o770), ""),
    "a link": (_link, ""),
    "somebody else's": (files, "import os; uid = os.geteuid() + 1; os.geteuid = lambda: uid"),
    "of another numba": (files, "import numba.core.compiler as c; del c.CompileResult._rebuild"),
    "no home": (files, "import os; os.environ |= dict(HOME='none', BIASLAB_CACHE='', XDG_CACHE_HOME='')"),
    "no space": (
        lambda place: shutil.rmtree(place / "cache"),
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))",
    ),
}
"""What makes a cache unusable: something done to it (`files` does nothing), or to the process."""


@pytest.mark.slow
@pytest.mark.parametrize("why", UNUSABLE)
def test_without_a_usable_cache_kernels_are_compiled_to_the_same_code(place, cold, why):
    harm, prelude = UNUSABLE[why]
    harm(place)
    found = run(place, f"{prelude}\n{RUN if why == 'damaged' else SERIAL}")
    assert (found.totals, found.hits) == (cold.totals, 0)
    assert found.bytes == cold.bytes or why != "damaged"
    assert found.totals[0] != found.totals[1], "sums in another order are expected to differ in the last bits"
    assert not (place / "none").exists()
    if harm in (_damage, _open_files):
        assert run(place, SERIAL).misses == 0, "the files are written again"


@pytest.mark.slow
def test_folder_that_cannot_be_written_is_read(place, cold):
    (folder,) = (place / "cache/kernels").iterdir()
    folder.chmod(0o500)
    assert run(place).misses == 0
    edit(place / "src/biaslab/area/_scale_kernels.py", "3.0", "5.0")
    (place / "cache/kernels").chmod(0o500)
    try:
        assert run(place, SERIAL).misses == N_OVERLOADS - 1
    finally:
        (place / "cache/kernels").chmod(0o700)
        folder.chmod(0o700)


def test_kernels_lie_in_the_cache_of_the_user(place):
    home = place / "home"
    home.mkdir()
    run(place, SERIAL, HOME=str(home), BIASLAB_CACHE="", XDG_CACHE_HOME=str(home / "c"))
    assert len(list((home / "c/biaslab/kernels").rglob("*.kernel"))) == N_OVERLOADS - 1


def test_nobody_else_can_read_or_write_the_kernels(template):
    for path in (template[0] / "cache/kernels").rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600)
    assert (template[0] / "cache/kernels").stat().st_mode & 0o777 == 0o700


def test_kernel_outside_the_modules_of_kernels_is_not_kept(place):
    """Nothing would tell that it was edited."""
    write_kernels(place, "other", "@kernel\ndef three(x):\n    return x * 3\n")
    assert [call(place, "other", "three", "1") for _ in range(2)] == [(3, 0, 1)] * 2
    assert len(files(place)) == N_OVERLOADS


@pytest.mark.slow
def test_callers_are_compiled_alike_where_their_callee_was_loaded(place, cold):
    shutil.rmtree(place / "cache")
    run(place, "from biaslab.area._scale_kernels import scaled; scaled(1.0); print('[0, [], 0, 0]')")
    found = run(place)
    assert (found.bytes, found.hits, found.misses) == (cold.bytes, 1, N_OVERLOADS - 1)
    warm = run(place)
    assert (warm.bytes, warm.misses) == (cold.bytes, 0)


MEAN = """
@parallel_kernel
def total(x):
    sum = 0.0
    for i in prange(x.size):
        sum += x[i]
    return sum

@kernel
def mean(x):
    return total(x) / x.size
"""


@pytest.mark.slow
def test_kernels_that_need_threads_are_loaded_before_any_is_started(place):
    write_kernels(place, "_mean_kernels", MEAN)
    for name, value in (("total", 15.0), ("mean", 2.5)):  # the second is compiled where its callee was loaded
        assert [call(place, "_mean_kernels", name, "np.arange(6.0)")[:2] for _ in range(2)] == [
            (value, 0),
            (value, 1),
        ]


NETWORKS = """
import hashlib
import numpy as np
from biaslab.classifiers.networks import Network
from biaslab.classifiers.training import train
from biaslab.text.recurrent import initial_recurrent
from biaslab.text.recurrent_training import TrainingSettings, train_recurrent
from biaslab.text.words import Texts
rng = np.random.default_rng(0)
X, y = rng.integers(0, 9, (400, 7)).astype(np.int32), rng.integers(0, 2, 400)
texts = Texts.of([rng.integers(0, 60, n) for n in rng.integers(1, 15, 200)])
labels = rng.integers(0, 2, 200)
start = initial_recurrent("lstm", rng.normal(size=(60, 50)).astype(np.float32), 1)
if %r == "use":
    weights = [rng.normal(size=shape) for shape in ((7, 12), (12, 2))]
    found = [Network(weights, [np.zeros(12), np.zeros(2)]).probabilities(X), start.gradients(texts, labels)]
else:
    layers = train(X, y, 2, epochs=3, seed=1)
    network, _ = train_recurrent(start, texts, labels, TrainingSettings(2), 1)
    found = [*layers.weights, *layers.biases, *sum(network.layers, ()), network.W_out, network.b_out]
print(*(hashlib.sha256(array.tobytes()).hexdigest() for array in found))
"""


@pytest.mark.slow
def test_sums_that_may_be_regrouped_are_so_alike_with_and_without_the_cache(tmp_path):
    """Kernels call kernels: the code that runs must be the same whichever of them were loaded."""

    def digest(cache: str, part: str) -> str:
        environment = os.environ | {"BIASLAB_CACHE": str(tmp_path / cache)}
        command = [sys.executable, "-c", NETWORKS % part]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout

    compiled = digest("all", "train")
    assert digest("all", "train") == compiled, "loaded"
    digest("some", "use")
    assert digest("some", "train") == compiled, "some loaded, others compiled"
    assert digest("some", "train") == compiled, "all loaded, of two processes"


@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("_*kernels.py")), ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_kernels_are_made_of_what_the_key_covers(path):
    """A constant or a function of another module could change without the key."""
    modules = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            modules.add(node.module)
    others = {name for name in modules if not (name.startswith("biaslab.") and name.endswith("kernels"))}
    assert others <= {"biaslab.core.jit", "math", "numpy", "typing"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(kernel_cache.VARIABLE, str(tmp_path))
    return tmp_path / "kernels"


def command(*arguments):
    done = CliRunner().invoke(app, ["cache", *arguments], catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


def test_command_tells_and_clears(place, monkeypatch):
    monkeypatch.setenv(kernel_cache.VARIABLE, str(place / "cache"))
    size = sum(path.stat().st_size for path in files(place))
    foreign = place / "cache/kernels/notes.txt"
    foreign.touch()
    told = command()
    assert told == f"{place / 'cache/kernels'}\t{N_OVERLOADS} kernels\t{size / 1e6:.1f} MB\n"
    assert command("clear") == ""
    assert list((place / "cache/kernels").iterdir()) == [foreign], "only what the cache wrote is deleted"
    assert command() == f"{place / 'cache/kernels'}\t0 kernels\t0.0 MB\n"


def test_a_cache_that_was_never_written_is_empty_and_without_a_home_there_is_none(folder, monkeypatch):
    assert command() == f"{folder}\t0 kernels\t0.0 MB\n"
    assert command("clear") == ""
    assert not folder.exists()
    for name, place in ((kernel_cache.VARIABLE, ""), ("XDG_CACHE_HOME", ""), ("HOME", str(folder))):
        monkeypatch.setenv(name, place)
    assert command() == "no cache: neither a home folder nor BIASLAB_CACHE is set\n"
    assert command("clear") == ""


def test_kernels_that_cannot_be_deleted_are_named(folder, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", path)

    (folder / ("0" * 32)).mkdir(parents=True)
    monkeypatch.setattr(shutil, "rmtree", refuse)
    with pytest.raises(InputError, match=r"kernels: Permission denied; delete it by hand$"):
        kernel_cache.clear(folder)
