import pytest

pytest.importorskip("torch")

import torch

from biaslab.core.errors import InputError
from biaslab.text.devices import choose_device, generator, make_deterministic, step_seed


@pytest.fixture
def threads():
    """Give back the threads that a test took, and the algorithms that it forbade."""
    n, deterministic = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    yield
    torch.set_num_threads(n)
    torch.use_deterministic_algorithms(deterministic)


def test_cuda_that_is_absent_is_refused_and_auto_falls_back(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(
        InputError, match=r"^device 'cuda': torch finds no CUDA device; write 'cpu' or 'auto'$"
    ):
        choose_device("cuda")
    assert choose_device("auto").type == choose_device("cpu").type == "cpu"


def test_auto_takes_cuda_where_it_is(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_device("auto").type == choose_device("cuda").type == "cuda"
    assert choose_device("cpu").type == "cpu"


def test_an_unknown_device_is_refused():
    with pytest.raises(InputError, match=r"device 'cda' is unknown; did you mean 'cuda'\?"):
        choose_device("cda")


def test_threads_and_algorithms_are_fixed(threads):
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


def test_drawing_leaves_torchs_own_random_numbers_alone():
    torch.manual_seed(5)
    before = torch.get_rng_state()
    torch.rand(4, generator=generator(1, "samples"))
    assert torch.equal(before, torch.get_rng_state())


def test_seeds_of_steps():
    seeds = {step_seed(1, "dropout", step) for step in range(100)}
    assert len(seeds) == 100
    assert all(0 <= seed < 2**63 for seed in seeds)
    torch.manual_seed(max(seeds))
    assert step_seed(1, "dropout", 7) == step_seed(1, "dropout", 7)
