import numpy as np
import pytest

from biaslab.bias.weat import effect_size
from biaslab.core.errors import InputError
from biaslab.origins.attribution.scanner import Scanner
from biaslab.origins.attribution.tables import count_test_words, document_table, set_table
from biaslab.origins.sets.selection import select_sets


def test_document_table(small):
    table = document_table(small.scanner, small.weat, small.documents)
    seeds = table[[f"newton_seed{s}" for s in range(3)]].to_numpy()
    np.testing.assert_allclose(table["newton_mean"], seeds.mean(axis=1))
    np.testing.assert_allclose(table["newton_sd"], seeds.std(axis=1, ddof=1))
    assert list(table.columns[:5]) == ["document", "id", "title", "influence_mean", "influence_sd"]
    with pytest.raises(InputError, match="39 documents and the corpus has 40"):
        document_table(small.scanner, small.weat, small.documents[1:])


def test_the_words_of_a_test_are_counted_in_every_document(small):
    table = count_test_words(small.scanner.tokens, small.scanner.offsets, small.weat)
    assert list(table) == [f"{what}_{name}" for what in ("n", "rarest") for name in "STAB"]
    for number, words in enumerate(small.texts()):
        assert table["n_S"][number] == words.count(3) + words.count(10)
        assert table["rarest_S"][number] == words.count(10)
        assert table["rarest_B"][number] == words.count(5)
    assert (table["n_T"] == 0).any()
    empty = count_test_words(np.array([5, 5], np.int32), np.array([0, 0, 2]), small.weat)
    assert empty["n_B"].tolist() == [0, 2]


def test_set_table_predicts_the_bias_after_removal(small):
    scan, weat = small.scanner, small.weat
    means = document_table(scan, weat, small.documents)["influence_mean"].to_numpy()
    sets = select_sets({"w": means, "other": means}, [1, 4], [3], 2, 1)
    table = set_table(scan, [weat], sets)
    assert len(table) == (4 + 2) * 3 * 3  # the other test's sets are not predicted for this one
    one = table.query("set == 'w-decrease-1' and estimator == 'influence'")
    assert one["seed"].tolist() == [0, 1, 2]
    fall = np.array([effect_size(e.W, weat) for e in small.trained]) - one["predicted"].to_numpy()
    np.testing.assert_allclose(fall, [e.values[means.argmax(), 0] for e in scan.scan(weat)], rtol=1e-9)
    assert set(table.query("kind == 'random'")["weat"]) == {"w"}


def test_another_vocabulary(small):
    scan = small.scanner
    with pytest.raises(InputError, match="X has 30 words and the vocabulary has 29"):
        Scanner(scan.batches, scan.x, scan.tokens, scan.offsets, scan.words[1:], scan.parameters, 1)
