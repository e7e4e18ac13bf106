import numpy as np
import pytest

from biaslab.core.errors import InputError
from biaslab.fairness_testing.text import discrimination
from biaslab.fairness_testing.text.discrimination import TextSubject
from biaslab.fairness_testing.text.search import (
    MAX_ITER,
    draw_numbers,
    search_globally,
    search_locally,
)
from biaslab.fairness_testing.text.strategies import STRATEGIES, find_strategy
from biaslab.text.words import Texts, concatenate
from fairness_text_data import (
    VALUES,
    AnsweringModel,
    blind_model,
    draws,
    random_texts,
    small_subject,
)
from naive import fairness_text as naive

HOPS = 12
GLOBAL = ("found", "replaced", "value", "n_queries", "n_gradients")
LOCAL = ("positions", "words", "discriminatory", "replaced", "value", "n_queries", "n_gradients")


def lists(subject):
    return subject.values.tolist(), [[c for c in row if c >= 0] for row in subject.neighbours.tolist()]


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("seed", [3, 5])
def test_global_search_equals_the_algorithm(name, seed):
    subject, seeds, numbers = small_subject(seed), random_texts(20, seed), draws(20, MAX_ITER)
    search = search_globally(subject, seeds, STRATEGIES[name], numbers)
    assert (search.found == 0).any()
    assert (search.found > 0).any()
    assert (search.found < 0).any()
    for i, x in enumerate(seeds):
        found, final, exchanged, n_queries, n_gradients = naive.global_search(
            name, subject.model, x.tolist(), *lists(subject), numbers[i], MAX_ITER
        )
        assert (search.found[i], search.texts.row(i).tolist()) == (found, final)
        assert (search.replaced[i], search.value[i]) == exchanged
        assert (search.n_queries[i], search.n_gradients[i]) == (n_queries, n_gradients)


@pytest.mark.parametrize("is_guided", [True, False])
@pytest.mark.parametrize("seed", [3, 5])
def test_local_search_equals_the_algorithm(is_guided, seed):
    subject, starts, numbers = small_subject(seed), random_texts(20, seed), draws(20, HOPS)
    search = search_locally(subject, starts, HOPS, is_guided, numbers)
    assert 0 < search.discriminatory.sum() < search.is_visit.sum() < 20 * HOPS
    visited = iter(search.texts())
    for i, x in enumerate(starts):
        hops, n_queries, n_gradients = naive.local_search(
            subject.model, x.tolist(), *lists(subject), numbers[i], is_guided
        )
        assert search.is_visit[i].sum() == len(hops)
        for hop, (a, c, text, is_found, exchanged) in enumerate(hops):
            assert (search.positions[i, hop], search.words[i, hop]) == (a, c)
            assert next(visited).tolist() == text
            assert search.discriminatory[i, hop] == is_found
            assert (search.replaced[i, hop], search.value[i, hop]) == exchanged
        assert search.ends.row(i).tolist() == (hops[-1][2] if hops else x.tolist())
        assert (search.n_queries[i], search.n_gradients[i]) == (n_queries, n_gradients)


def run_global(subject, seeds, name, numbers):
    return search_globally(subject, seeds, STRATEGIES[name], numbers)


@pytest.mark.parametrize("name", [*STRATEGIES, "guided", "unguided"])
def test_a_search_depends_neither_on_batches_nor_on_the_other_texts(monkeypatch, name):
    subject, texts, numbers = small_subject(4), random_texts(30, 4), draws(30, HOPS)

    def search(texts, numbers):
        if name in STRATEGIES:
            return run_global(subject, texts, name, numbers[:, :MAX_ITER])
        return search_locally(subject, texts, HOPS, name == "guided", numbers)

    ends, fields = ("texts", GLOBAL) if name in STRATEGIES else ("ends", LOCAL)
    whole = search(texts, numbers)
    order = np.random.default_rng(0).permutation(30)[:17]
    some = search(texts.take(order), numbers[order])
    for module in ("discrimination", "search"):
        monkeypatch.setattr(f"biaslab.fairness_testing.text.{module}.WORDS", 11)
    monkeypatch.setattr(discrimination, "_BLOCK", 4)
    cut = search(texts, numbers)
    assert getattr(whole, ends).ids.tobytes() == getattr(cut, ends).ids.tobytes()
    assert getattr(whole, ends).take(order).ids.tobytes() == getattr(some, ends).ids.tobytes()
    for field in fields:
        assert getattr(whole, field).tobytes() == getattr(cut, field).tobytes()
        assert getattr(whole, field)[order].tobytes() == getattr(some, field).tobytes()


@pytest.mark.parametrize("name", STRATEGIES)
def test_texts_that_cannot_move_stop(name):
    """An empty one, one without sensitive words, one whose free words have no neighbours, one of values."""
    subject = small_subject(model=blind_model(1))
    texts = Texts.of([[], [1, 2, 4], [3, 54, 55], [3, 17, 10]])
    search = run_global(subject, texts, name, draws(4, MAX_ITER))
    assert (search.found == -1).all()
    assert search.n_gradients.sum() == 0
    assert search.n_queries.tolist() == [1, 1, 5, 13]
    assert np.array_equal(search.texts.ids, texts.ids)
    local = search_locally(subject, texts, HOPS, True, draws(4, HOPS))
    assert not local.is_visit.any()
    assert len(local.texts()) == 0
    assert local.n_queries.tolist() == [1, 1, 5, 13]


def test_guided_walk_takes_words_without_gradient_alike_and_alone():
    """Words 0 and 1 of four have no gradient; the numbers are spread evenly."""
    neighbours = np.full((60, 1), -1, np.int32)
    neighbours[[20, 21, 22, 23], 0] = [24, 25, 26, 27]

    def gradients(texts, labels):
        return np.isin(texts.ids, (22, 23))[:, None] * np.ones(6)

    model = AnsweringModel(lambda texts: np.tile([0.6, 0.4], (len(texts), 1)), gradients)
    subject = TextSubject(model, VALUES, neighbours)
    starts = concatenate([Texts.of([[3, 20, 22, 21, 23]])] * 10)
    numbers = np.stack([(np.arange(10) + 0.5) / 10, np.zeros(10)], axis=1)[:, None]
    search = search_locally(subject, starts, 1, True, numbers)
    assert search.positions[:, 0].tolist() == [1] * 5 + [3] * 5
    unguided = search_locally(subject, starts, 1, False, numbers)
    assert unguided.positions[:, 0].tolist() == [1, 1, 2, 2, 2, 3, 3, 4, 4, 4]


@pytest.mark.parametrize("tiny", [1.0, 1e-310])
def test_guided_walk_prefers_small_gradients_of_any_size(tiny):
    """Saliencies 2 and 6: three parts in four for the first word, also where 1 / saliency overflows."""
    neighbours = np.full((60, 1), -1, np.int32)
    neighbours[[20, 21], 0] = [24, 25]

    def gradients(texts, labels):
        return np.select([texts.ids == 20, texts.ids == 21], [tiny, -3 * tiny])[:, None] * np.ones(6)

    model = AnsweringModel(lambda texts: np.tile([0.6, 0.4], (len(texts), 1)), gradients)
    subject = TextSubject(model, VALUES, neighbours)
    starts = concatenate([Texts.of([[20, 3, 21]])] * 8)
    numbers = np.stack([(np.arange(8) + 0.5) / 8, np.zeros(8)], axis=1)[:, None]
    positions = search_locally(subject, starts, 1, True, numbers).positions[:, 0]
    assert positions.tolist() == [0] * 6 + [2] * 2


def test_numbers_belong_to_seed_phase_and_text():
    numbers = draw_numbers(7, "local", [3, 8, 5], 4)
    assert numbers.shape == (3, 4, 2)
    assert numbers.min() >= 0
    assert numbers.max() < 1
    assert np.array_equal(draw_numbers(7, "local", [5, 3], 4), numbers[[2, 0]])
    assert np.array_equal(draw_numbers(7, "local", [8], 2)[0], numbers[1, :2])
    for other in (draw_numbers(8, "local", [3], 4), draw_numbers(7, "global", [3], 4)):
        assert not np.intersect1d(other, numbers).size


def test_no_texts_are_searched():
    subject, none = small_subject(), Texts.of([])
    for name in STRATEGIES:
        assert len(run_global(subject, none, name, draws(0, MAX_ITER)).found) == 0
    assert search_locally(subject, none, 3, True, draws(0, 3)).positions.shape == (0, 3)


def test_wrong_arguments_are_refused():
    subject, texts = small_subject(), random_texts(3, 1)
    with pytest.raises(InputError, match="cannot walk -1 hops; give 0 or more"):
        search_locally(subject, texts, -1, True, draws(3, 1))
    with pytest.raises(InputError, match="unknown strategy 'adf_acs'"):
        find_strategy("adf_acs")
