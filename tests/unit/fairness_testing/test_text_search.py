import numpy as np
import pytest

from biaslab.fairness_testing.text import discrimination
from biaslab.fairness_testing.text import search as files
from biaslab.fairness_testing.text.discrimination import TextSubject
from biaslab.fairness_testing.text.own_texts import OwnTexts, found_pairs
from biaslab.fairness_testing.text.search import (
    MAX_ITER,
    STRATEGIES,
    draw_numbers,
    find_strategy,
    search_globally,
    search_locally,
)
from biaslab.text.words import Lexicon, Texts, concatenate
from fairness_text_data import VALUES, AnsweringModel, draws, random_texts, small_subject
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

    fields = GLOBAL if name in STRATEGIES else LOCAL
    whole = search(texts, numbers)
    order = np.random.default_rng(0).permutation(30)[:17]
    some = search(texts.take(order), numbers[order])
    for module in ("discrimination", "search"):
        monkeypatch.setattr(f"biaslab.fairness_testing.text.{module}.WORDS", 11)
    monkeypatch.setattr(discrimination, "_BLOCK", 4)
    cut = search(texts, numbers)
    if name in STRATEGIES:
        assert whole.texts.ids.tobytes() == cut.texts.ids.tobytes()
        assert whole.texts.take(order).ids.tobytes() == some.texts.ids.tobytes()
    for field in fields:
        assert getattr(whole, field).tobytes() == getattr(cut, field).tobytes()
        assert getattr(whole, field)[order].tobytes() == getattr(some, field).tobytes()


def first_words(gradients, start, n, is_guided=True):
    """Return the places that n walks take first, from words with such gradients and evenly spread numbers."""
    neighbours = np.full((60, 1), -1, np.int32)
    neighbours[list(gradients), 0] = 24

    def of_words(texts, labels):
        return np.array([gradients.get(word, 0.0) for word in texts.ids.tolist()])[:, None] * np.ones(6)

    model = AnsweringModel(lambda texts: np.tile([0.6, 0.4], (len(texts), 1)), of_words)
    numbers = np.stack([(np.arange(n) + 0.5) / n, np.zeros(n)], axis=1)[:, None]
    subject = TextSubject(model, VALUES, neighbours)
    return search_locally(subject, Texts.of([start] * n), 1, is_guided, numbers).positions[:, 0].tolist()


def test_guided_walk_takes_words_without_gradient_alike_and_alone():
    gradients = {20: 0.0, 21: 0.0, 22: 1.0, 23: 1.0}
    assert first_words(gradients, [3, 20, 22, 21, 23], 10) == [1] * 5 + [3] * 5
    unguided = first_words(gradients, [3, 20, 22, 21, 23], 10, is_guided=False)
    assert unguided == [1, 1, 2, 2, 2, 3, 3, 4, 4, 4]


@pytest.mark.parametrize("tiny", [1.0, 1e-310])
def test_guided_walk_prefers_small_gradients_of_any_size(tiny):
    """Saliencies 2 and 6: three parts in four for the first word, also where 1 / saliency overflows."""
    assert first_words({20: tiny, 21: -3 * tiny}, [20, 3, 21], 8) == [0] * 6 + [2] * 2


def test_numbers_belong_to_seed_phase_and_text():
    numbers = draw_numbers(7, "local", [3, 8, 5], 4)
    assert numbers.shape == (3, 4, 2)
    assert numbers.min() >= 0
    assert numbers.max() < 1
    assert np.array_equal(draw_numbers(7, "local", [5, 3], 4), numbers[[2, 0]])
    assert np.array_equal(draw_numbers(7, "local", [8], 2)[0], numbers[1, :2])
    for other in (draw_numbers(8, "local", [3], 4), draw_numbers(7, "global", [3], 4)):
        assert not np.intersect1d(other, numbers).size


def test_no_texts_are_searched_and_nothing_is_found():
    subject, none = small_subject(), Texts.of([])
    for name in STRATEGIES:
        assert len(run_global(subject, none, name, draws(0, MAX_ITER)).found) == 0
    local = search_locally(subject, none, 3, True, draws(0, 3))
    assert local.positions.shape == (0, 3)
    assert files.count_local(local) == (0, 0)
    assert len(files.local_finds(local, origins(local)).origins) == 0


WALK = 40


def local_search(seed=3, n=12, longest=4):
    """Walks of short texts, which come back to where they were."""
    return search_locally(small_subject(seed), random_texts(n, seed, longest), WALK, True, draws(n, WALK))


def visits(search):
    texts = [tuple(row.tolist()) for row in search.texts()]
    return texts, search.discriminatory[search.is_visit]


def random_duplicates(n, seed):
    return random_texts(n, seed, longest=3).take(np.random.default_rng(seed).integers(0, n, 3 * n))


def origins(search):
    return np.arange(len(search.starts))


@pytest.mark.parametrize("collide", [False, True])
def test_texts_have_the_number_of_the_first_equal_one(monkeypatch, collide):
    """Also where different texts have one hash."""
    if collide:
        monkeypatch.setattr(
            files.kernels, "hash_texts", lambda ids, offsets: np.diff(offsets).astype(np.uint64) % 2
        )
    texts = random_duplicates(80, 1)
    first = {}
    expected = [first.setdefault(tuple(row.tolist()), i) for i, row in enumerate(texts)]
    assert files.number_texts(texts).tolist() == expected
    assert files.distinct(texts).tolist() == sorted(first.values())
    assert len(first) < len(texts)


@pytest.mark.parametrize("seed", range(3, 6))
def test_local_counts_equal_sets(seed):
    search = local_search(seed)
    texts, is_found = visits(search)
    assert files.count_local(search) == naive.distinct_counts(texts, is_found)
    assert len(set(texts)) < len(texts)


def test_global_counts_equal_sets():
    subject = small_subject(3)
    seeds = concatenate([random_texts(40, 3, 4)] * 2)
    search = search_globally(subject, seeds, find_strategy("rp"), draws(80, 10))
    finals = [tuple(row.tolist()) for row in search.texts]
    perturbed = {x for x, found in zip(finals, search.found, strict=True) if found > 0}
    assert files.count_global(search) == ((search.found == 0).sum(), len(perturbed))
    assert 0 < len(perturbed) < (search.found > 0).sum()
    starts = files.starts_of(search)
    assert (search.found[starts] >= 0).all()
    assert np.array_equal(starts, np.sort(starts))
    every = [x for x, found in zip(finals, search.found, strict=True) if found >= 0]
    assert [finals[i] for i in starts] == list(dict.fromkeys(every))


def test_pairs_are_different_texts_with_partners_of_another_label():
    subject = small_subject(3)
    seeds = random_texts(40, 3)
    search = search_globally(subject, seeds, find_strategy("adf_asc"), draws(40, 10))
    local = local_search()
    texts, is_found = visits(local)
    found = dict.fromkeys(x for x, f in zip(texts, is_found, strict=True) if f)
    assert [tuple(row.tolist()) for row in files.local_finds(local, origins(local)).texts] == list(found)
    for pairs in (files.global_finds(search, np.arange(40)), files.local_finds(local, origins(local))):
        assert len(pairs.origins) == len(pairs.texts) == len(pairs.partners) > 5
        for x, other in zip(pairs.texts, pairs.partners, strict=True):
            partner = naive.partner(subject.model, x.tolist(), subject.values.tolist())
            assert other.tolist() == partner[0]
            assert naive.label(subject.model, x.tolist()) != naive.label(subject.model, other.tolist())


def test_a_text_that_both_phases_find_is_one_pair_of_the_global_phase():
    subject, seeds, every = small_subject(3), random_texts(40, 3), np.arange(40)
    search = search_globally(subject, seeds, find_strategy("rp"), draws(40, MAX_ITER))
    lexicon = Lexicon(tuple(map(str, range(60))), subject.model.vectors, np.ones(60, bool))
    found = files.global_finds(search, every)
    pairs = found_pairs(subject, OwnTexts(lexicon, seeds, every, 0), "group", every, search, found)
    assert len(pairs) == len(found) > 5
    assert "local" not in {pair.phase for pair in pairs}


def test_rows_are_drawn_by_their_ids_and_all_where_there_are_no_more():
    rows = files.draw_rows(400, 40, 1, "seeds")
    assert len(set(rows.tolist())) == 40
    assert (np.diff(rows) > 0).all()
    assert rows.max() > 300
    assert rows.tolist() == files.draw_rows(400, 40, 1, "seeds").tolist()
    assert rows.tolist() != files.draw_rows(400, 40, 2, "seeds").tolist()
    assert rows.tolist() != files.draw_rows(400, 40, 1, "pairs").tolist()
    for limit in (None, 400, 500):
        assert files.draw_rows(400, limit, 1, "seeds").tolist() == list(range(400))
