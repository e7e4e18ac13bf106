import pytest

pytest.importorskip("torch")
pytest.importorskip("safetensors")

import torch
from safetensors.torch import load_file, save_file

from biaslab.core.errors import InputError
from biaslab.hate_speech.checkpoints import load_checkpoint, save_checkpoint
from refusals import assert_file_refused

IDENTITY = {"method": "soc-0.1", "seed": 3, "learning_rate": 2e-5, "halvings": None}
STATE = {"step": 200, "history": [[200, 0.1 + 0.2, True]], "best": -1.0}
TENSORS = {"model.a": torch.randn(3, 2).T, "best.a": torch.zeros(0), "step": torch.tensor(2.0)}


def test_what_is_saved_is_loaded(tmp_path):
    path = tmp_path / "run" / "checkpoint.safetensors"
    save_checkpoint(path, IDENTITY, STATE, TENSORS)
    state, tensors = load_checkpoint(path, IDENTITY)
    assert state == STATE
    assert tensors.keys() == TENSORS.keys()
    for name, tensor in TENSORS.items():
        assert torch.equal(tensors[name], tensor)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_it_is_one_plain_file_whose_bytes_follow_from_its_contents(tmp_path):
    paths = [tmp_path / name for name in ("a.safetensors", "b.safetensors")]
    for path in paths:
        save_checkpoint(path, IDENTITY, STATE, TENSORS)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert load_file(paths[0]).keys() == TENSORS.keys()


def test_there_may_be_none(tmp_path):
    assert load_checkpoint(tmp_path / "checkpoint.safetensors", IDENTITY) is None


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"seed": 4}, "seed = 3, not 4"),
        ({"method": "soc-1"}, "method = soc-0.1, not soc-1"),
        ({"halvings": 10}, "halvings = None, not 10"),
        ({"halvings": 5}, "halvings = None, not 5"),
    ],
)
def test_the_checkpoint_of_another_training_is_refused(tmp_path, change, problem):
    path = tmp_path / "checkpoint.safetensors"
    save_checkpoint(path, IDENTITY, STATE, TENSORS)
    with pytest.raises(InputError, match=problem) as error:
        load_checkpoint(path, IDENTITY | change)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_setting_that_is_no_more_is_refused(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    save_checkpoint(path, IDENTITY | {"extra": 1}, STATE, TENSORS)
    with pytest.raises(InputError, match="extra = 1, not None"):
        load_checkpoint(path, IDENTITY)


def test_damaged_files_are_refused(tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    save_checkpoint(path, IDENTITY, STATE, TENSORS)
    whole = path.read_bytes()
    for content in (b"", whole[:-1], whole[:40], b"{}" + whole):
        assert_file_refused(path, content, "no readable checkpoint", lambda p: load_checkpoint(p, IDENTITY))
    save_file({"a": torch.zeros(1)}, path)
    with pytest.raises(InputError, match="no readable checkpoint"):
        load_checkpoint(path, IDENTITY)
