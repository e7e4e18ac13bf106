import numpy as np
import pytest

from biaslab.fairness_testing.text import search as files
from biaslab.fairness_testing.text.search import search_globally, search_locally
from biaslab.fairness_testing.text.strategies import find_strategy
from biaslab.text.words import Texts, concatenate
from fairness_text_data import draws, random_texts, small_subject
from naive import fairness_text as naive

HOPS = 40


def local_search(seed=3, n=12, longest=4):
    """Walks of short texts, which come back to where they were."""
    return search_locally(small_subject(seed), random_texts(n, seed, longest), HOPS, True, draws(n, HOPS))


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


def test_no_walk_finds_nothing():
    assert files.number_texts(Texts.of([])).tolist() == []
    none = search_locally(small_subject(), Texts.of([]), 3, True, draws(0, 3))
    assert files.count_local(none) == (0, 0)
    assert len(files.local_finds(none, origins(none)).origins) == 0


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
