"""Target words on the bias axis of baseline and retrained embeddings."""

import math

import numpy as np
import pandas as pd
import pytest

from biaslab.bias.word_sets import WordSets, in_vocabulary
from biaslab.core.errors import InputError
from biaslab.core.io import write_npz
from biaslab.embeddings.vocabulary import Vocabulary
from biaslab.origins.representations import axis
from naive import bias as naive

WORDS = [f"w{i}" for i in range(20)]
VOCABULARY = Vocabulary(WORDS, np.arange(40, 20, -1))
ONE = WordSets(
    "one", "x", "x", {"s": ["w0", "w1", "lost"], "t": ["w2", "w3"]}, {"a": WORDS[4:8], "b": WORDS[8:11]}
)
TWO = WordSets(
    "two", "x", "x", {"s": ["w9", "w8"], "t": ["w7", "w6"]}, {"a": WORDS[11:14], "b": WORDS[14:16]}
)
SETS = ["baseline", "one-increase-30", "one-decrease-30", "two-increase-30", "two-decrease-30"]
SETS += ["one-increase-9"]


@pytest.fixture
def batches(tmp_path):
    rng = np.random.default_rng(0)
    paths = [tmp_path / name / "batch-0.npz" for name in SETS]
    for path in paths:
        vectors = rng.normal(size=(3, len(WORDS), 5)).astype(np.float32)
        write_npz(path, replicates=np.array([1, 0, 2]), W=vectors, words=VOCABULARY.digest)
    return paths


def projected(batches, tests):
    return axis.join_projections(axis.project_words([batch], VOCABULARY, tests) for batch in batches)


def test_every_embedding_is_measured_with_its_own_axis(batches):
    table = projected(batches[:5], [ONE, TWO])
    assert len(table) == 2 * 3 * 3 * 4
    expected = {tuple(name.split("-")[:2]): [name] for name in SETS[1:5]}
    expected |= {(name, "baseline"): ["baseline"] for name in ("one", "two")}
    assert table.groupby(["weat", "kind"])["set"].unique().map(list).to_dict() == expected
    part = table.query("set == 'one-decrease-30' and seed == 2")
    assert part[["symbol", "word", "count"]].values.tolist() == [
        [symbol, f"w{i}", 40 - i] for i, symbol in enumerate("SSTT")
    ]
    with np.load(batches[2]) as archive:
        vectors = archive["W"][2].astype(float)
    weat = in_vocabulary(ONE, VOCABULARY.ids)
    direction = naive.bias_axis(vectors, weat.A, weat.B)
    expected = [naive.cosine(vectors[i], direction) for i in range(4)]
    np.testing.assert_allclose(part["projection"], expected, rtol=1e-6)


def test_shift_is_the_change_of_the_place_among_the_words(batches):
    table = projected(batches[:5], [ONE, TWO])
    shifts = axis.word_shifts(table).set_index(["weat", "word"])["shift"]
    places = {}
    for key, part in table[table["weat"] == "two"].groupby(["kind", "seed"]):
        values = part["projection"].tolist()
        for word, value in zip(part["word"], values, strict=True):
            place = (value - naive.mean(values)) / math.sqrt(naive.variance(values))
            places.setdefault((key[0], word), []).append(place)
    for word in ("w9", "w8", "w7", "w6"):
        base, *removed = (naive.mean(places[kind, word]) for kind in ("baseline", "increase", "decrease"))
        assert shifts["two", word] == pytest.approx(naive.mean([abs(place - base) for place in removed]))


def test_fit_is_on_the_logarithm_of_the_frequency(batches):
    table = projected(batches[:5], [ONE, TWO])
    fits = axis.fit_frequency(table, seed=1).set_index("weat")
    shifts = axis.word_shifts(table).query("weat == 'one'")
    x = [math.log10(count) for count in shifts["count"]]
    fit = fits.loc["one"]
    assert fit["n_words"] == 4
    assert fit["r2"] == pytest.approx(naive.r_squared(x, shifts["shift"].tolist()))
    assert fit["slope"] == pytest.approx(naive.slope(x, shifts["shift"].tolist()))
    assert fit["r2_ci_low"] <= fit["r2_ci_high"]
    assert fit["slope_ci_low"] <= fit["slope"] <= fit["slope_ci_high"]
    pd.testing.assert_frame_equal(fits, axis.fit_frequency(table, seed=1).set_index("weat"))


def test_words_that_do_not_spread_have_no_relative_position(batches):
    table = projected(batches[:5], [ONE, TWO])
    assert axis.word_shifts(table.assign(projection=0.5))["shift"].isna().all()
    assert axis.fit_frequency(table.assign(projection=0.5), seed=1)["r2"].isna().all()


@pytest.mark.parametrize(
    ("given", "tests", "problem"),
    [
        ([0, 1, 2, 3], [ONE, TWO], "two: expected decrease embeddings of one set, found none"),
        ([1, 2, 3, 4], [ONE, TWO], "one: expected baseline embeddings of one set, found none"),
        ([0], [], "no projections; give the tables of the baselines"),
        (
            range(6),
            [ONE, TWO],
            "one: expected increase embeddings of one set, found one-increase-30, one-increase-9",
        ),
    ],
)
def test_other_embeddings_than_the_baselines_and_two_sets_are_refused(batches, given, tests, problem):
    with pytest.raises(InputError, match=problem):
        projected([batches[i] for i in given], tests)
