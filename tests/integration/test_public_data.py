"""Every registered address against the real repositories at their commits, to the byte of a mirror of data.

The repositories lie on this machine (`BIASLAB_CLONES`: a folder of git directories OWNER+NAME/repo), and a
server on it plays the hosts, which are asked for the registered addresses.
"""

import functools
import os
import subprocess
from pathlib import Path

import pytest

import public_files
from biaslab.run.datasets import fetch, load_registry, public_addresses

ROOT = Path(__file__).parents[2]
REGISTRY = load_registry(ROOT / "workflow/resources/datasets.tsv")
MIRROR = Path(os.environ.get("BIASLAB_MIRROR", ROOT / "../shared/data"))
REPOSITORIES = Path(os.environ.get("BIASLAB_CLONES", "."))
LARGE = {"news-identity"}
PUBLIC = [
    pytest.param(dataset, id=dataset.name, marks=[pytest.mark.slow] * (dataset.name in LARGE))
    for dataset in REGISTRY.values()
    if public_addresses(dataset)
]


def repository(address: str) -> Path:
    """Return the git directory of an address HOST/OWNER/NAME/..."""
    _, owner, name, *_ = address.split("/")
    return REPOSITORIES / f"{owner}+{name}/repo"


@functools.lru_cache(maxsize=2)
def public(address: str) -> bytes | None:
    """Return what a host has at an address: a file at a commit, or its archive, quickly packed."""
    host, _, name, *rest = address.split("/")
    if host.startswith("codeload"):
        archive = ["--format=tar.gz", f"--prefix={name}-{rest[-1]}/", rest[-1]]
        command = ["-c", "tar.tar.gz.command=gzip -1 -n", "archive", *archive]
    else:
        command = ["show", f"{rest[0]}:{'/'.join(rest[1:])}"]
    git = ["git", f"--git-dir={repository(address)}", *command]
    found = subprocess.run(git, capture_output=True, check=False)
    return None if found.returncode else found.stdout


@pytest.fixture(scope="module")
def hosts(tmp_path_factory):
    with public_files.hosts(public_files.certificate(tmp_path_factory.mktemp("pem")), public) as played:
        yield played


@pytest.mark.parametrize("dataset", PUBLIC)
def test_a_dataset_is_the_mirrors_to_the_byte(dataset, hosts, tmp_path, monkeypatch):
    environment, asked = hosts
    addresses = [url.removeprefix("https://") for url in public_addresses(dataset)]
    if not all(repository(address).is_dir() for address in addresses):
        pytest.skip(f"needs the repository of {dataset.name} (BIASLAB_CLONES)")
    for key, value in environment.items():
        monkeypatch.setenv(key, value)
    for address in addresses:  # packed before it is asked for: a host is not waited for for long
        public(address)
    asked.clear()
    made, copy = tmp_path / "made", tmp_path / "copy"
    fetch(dataset.name, REGISTRY, out=made, downloads=tmp_path)
    assert asked == addresses
    if not MIRROR.is_dir():
        pytest.skip("was fetched; needs a mirror folder to compare with (BIASLAB_MIRROR)")
    assert fetch(dataset.name, REGISTRY, out=copy, mirror=MIRROR).kind == "mirror"
    assert made.read_bytes() == copy.read_bytes()
