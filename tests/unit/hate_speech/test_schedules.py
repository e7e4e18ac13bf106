import pytest

from biaslab.core.rng import stream
from biaslab.hate_speech.schedules import Patience, warmup_linear
from naive import hate_speech_training as naive


@pytest.mark.parametrize("budget", [1, 7, 100, 4940])
def test_the_rate_rises_over_a_tenth_of_the_budget_and_falls_to_its_end(budget):
    factors = [warmup_linear(step, budget) for step in range(budget + 5)]
    assert factors == pytest.approx([naive.warmup_linear(step, budget) for step in range(budget + 5)])
    assert factors[0] == 0
    assert factors[budget:] == [0] * 5
    assert max(factors) <= 1


def test_the_peak_is_where_the_warm_up_ends():
    assert [warmup_linear(step, 100) for step in (5, 10, 55, 99)] == pytest.approx([0.5, 1, 0.5, 1 / 90])


def validations(scores, halvings):
    """Rates relative to the first after each validation, the last one made, the best one."""
    patience, rates, best = Patience(), [], None
    for i, f1 in enumerate(scores):
        best = i if f1 > patience.best else best
        patience = patience.after(f1)
        rates.append(patience.factor)
        if patience.halvings >= halvings:
            break
    return rates, i, best


@pytest.mark.parametrize("seed", range(20))
def test_halvings_equal_the_literal_loop(seed):
    rng = stream(seed, "scores")
    scores = rng.integers(0, 6, size=30) / 10
    halvings = int(rng.integers(1, 7))
    assert validations(scores, halvings) == naive.early_stop(scores, halvings)


def test_an_f1_as_good_as_the_best_is_no_better():
    assert Patience(0.5, 1).after(0.5) == Patience(0.5, 2)
    assert Patience(0.5, 1).after(0.51) == Patience(0.51, 1)
    assert Patience().after(0.0) == Patience(0.0, 0)
