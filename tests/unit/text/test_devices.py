import pytest

pytest.importorskip("torch")

import torch

from biaslab.core.errors import InputError
from biaslab.text.devices import choose_device, generator, make_deterministic, step_seed


@pytest.mark.parametrize("has_cuda", [False, True])
def test_auto_takes_cuda_where_it_is(monkeypatch, has_cuda):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: has_cuda)
    assert choose_device("cpu").type == "cpu"
    assert choose_device("auto").type == ("cuda" if has_cuda else "cpu")
    for name, problem in (("cda", "'cda' is unknown; did you mean 'cuda'"), ("cuda", "finds no CUDA device")):
        if name == "cda" or not has_cuda:
            with pytest.raises(InputError, match=problem):
                choose_device(name)


def test_threads_and_algorithms_are_fixed(torch_as_it_was):
    for n in (2, 1):
        make_deterministic(n)
        assert torch.get_num_threads() == n
    assert torch.are_deterministic_algorithms_enabled()


def test_random_numbers_belong_to_seed_and_identifiers():
    def draw(seed, *ids):
        return torch.rand(4, generator=generator(seed, *ids)).tolist()

    assert draw(1, "samples", 3) == draw(1, "samples", 3)
    others = [draw(1, "samples", 4), draw(2, "samples", 3), draw(1, "order", 3)]
    assert draw(1, "samples", 3) not in others
    assert len({step_seed(1, "dropout", step) for step in range(100)}) == 100
