from dataclasses import astuple, replace

import numpy as np
import pytest

from biaslab.fairness_testing.text.discrimination import check
from biaslab.fairness_testing.text.invariants import verify_global, verify_local
from biaslab.fairness_testing.text.search import search_globally, search_locally
from biaslab.fairness_testing.text.strategies import STRATEGIES
from biaslab.fairness_testing.text.subject import TextSubject
from biaslab.text.words import Texts
from fairness_text_data import TanhModel, draws, random_texts, small_subject

SUBJECT, SEEDS = small_subject(3), random_texts(60, 3)


def global_search(name="adf_asc"):
    return search_globally(SUBJECT, SEEDS, STRATEGIES[name], draws(60, 10))


def local_search():
    starts = SEEDS.take(np.flatnonzero(check(SUBJECT, SEEDS).discriminatory))
    return search_locally(SUBJECT, starts, 30, True, draws(len(starts), 30))


@pytest.mark.parametrize("name", STRATEGIES)
def test_all_global_pairs_pass(name):
    search = global_search(name)
    found = verify_global(SUBJECT, SEEDS, search)
    n = int((search.found >= 0).sum())
    assert astuple(found)[:5] == (n,) * 5
    finals = [tuple(row.tolist()) for row in search.texts.take(np.flatnonzero(search.found >= 0))]
    assert found.n_duplicates == n - len(set(finals))


def test_all_local_pairs_pass():
    search = local_search()
    found = verify_local(SUBJECT, search)
    assert astuple(found)[:5] == (int(search.discriminatory.sum()),) * 5
    assert found.n_duplicates > 0


def perturbed():
    search = global_search()
    return search, int(np.flatnonzero(search.found > 0)[0])


def test_word_that_no_move_explains_is_noticed():
    search, seed = perturbed()
    ids = search.texts.ids.copy()
    untouched = np.setdiff1d(
        np.arange(SEEDS.lengths[seed]), search.moves.positions[search.moves.seeds == seed]
    )
    place = SEEDS.offsets[seed] + next(p for p in untouched if not SUBJECT.is_value[SEEDS.row(seed)[p]])
    ids[place] = 59 if ids[place] != 59 else 58
    found = verify_global(SUBJECT, SEEDS, replace(search, texts=Texts(ids, SEEDS.offsets)))
    assert found.from_neighbours == found.n_pairs - 1
    assert found.l0_recounted == found.n_pairs - 1
    assert found.only_values_differ == found.n_pairs


def test_moves_to_other_words_than_neighbours_are_noticed():
    search, _ = perturbed()
    strict = TextSubject(SUBJECT.model, SUBJECT.values, np.full((60, 1), -1, np.int32))
    found = verify_global(strict, SEEDS, search)
    assert found.from_neighbours == (search.found == 0).sum()
    local = local_search()
    assert verify_local(strict, local).from_neighbours == 0


def test_step_too_many_is_noticed():
    search, seed = perturbed()
    told = search.found.copy()
    told[seed] += 1
    found = verify_global(SUBJECT, SEEDS, replace(search, found=told))
    assert found.from_neighbours == found.n_pairs - 1


def test_exchange_of_other_words_is_noticed():
    search, seed = perturbed()
    replaced, value = search.replaced.copy(), search.value.copy()
    value[seed] = 59
    found = verify_global(SUBJECT, SEEDS, replace(search, value=value))
    assert found.only_values_differ == found.n_pairs - 1
    replaced[seed], value[seed] = -1, -1
    found = verify_global(SUBJECT, SEEDS, replace(search, replaced=replaced, value=value))
    assert found.only_values_differ == found.labels_confirmed == found.n_pairs - 1


def test_labels_are_asked_for_anew():
    search, local = global_search(), local_search()
    other = TextSubject(TanhModel(9), SUBJECT.values, SUBJECT.neighbours)
    for found in (verify_global(other, SEEDS, search), verify_local(other, local)):
        assert 0 < found.labels_confirmed < found.n_pairs
        assert found.only_values_differ == found.n_pairs


def test_walk_that_ends_elsewhere_is_noticed():
    search = local_search()
    walk = int(np.flatnonzero(search.discriminatory.any(axis=1))[0])
    ids = search.ends.ids.copy()
    ids[search.ends.offsets[walk]] += 1
    found = verify_local(SUBJECT, replace(search, ends=Texts(ids, search.ends.offsets)))
    assert found.from_neighbours == found.n_pairs - search.discriminatory[walk].sum()


def test_nothing_found_is_nothing_to_verify():
    none = Texts.of([])
    search = search_globally(SUBJECT, none, STRATEGIES["rp"], draws(0, 10))
    assert astuple(verify_global(SUBJECT, none, search)) == (0,) * 6
    assert astuple(verify_local(SUBJECT, search_locally(SUBJECT, none, 3, True, draws(0, 3)))) == (0,) * 6
