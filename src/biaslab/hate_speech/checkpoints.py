"""Checkpoints of a training: all it needs to go on to the same bytes, in one safetensors file."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from biaslab.core.errors import InputError
from biaslab.core.files import atomic_path

HEADER = "training"
"""Key of the file's metadata under which stands, as JSON, whose training it is and where it is."""


def save_checkpoint(
    path: str | os.PathLike,
    identity: Mapping[str, Any],
    state: Mapping[str, Any],
    tensors: Mapping[str, torch.Tensor],
) -> None:
    """Write a checkpoint, atomically; `identity` is what determines the training, in JSON's types."""
    header = json.dumps({"identity": dict(identity), "state": dict(state)}, sort_keys=True)
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    with atomic_path(path) as temporary:
        save_file(plain, temporary, metadata={HEADER: header})


def load_checkpoint(
    path: str | os.PathLike, identity: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, torch.Tensor]] | None:
    """Return the state and the tensors of a training, on the CPU; nothing when there is no checkpoint."""
    path = Path(path)
    if not path.exists():
        return None
    try:
        with safe_open(path, framework="pt") as file:
            header = json.loads((file.metadata() or {})[HEADER])
            _check_identity(path, header["identity"], dict(identity))
            return header["state"], {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: no readable checkpoint; remove it to start over") from error


def _check_identity(path: Path, found: dict[str, Any], wanted: dict[str, Any]) -> None:
    for name in sorted(found.keys() | wanted.keys()):
        if found.get(name) != wanted.get(name):
            raise InputError(
                f"{path}: checkpoint of a training with {name} = {found.get(name)}, not {wanted.get(name)};"
                " remove it to start over, or train as it was begun"
            )
