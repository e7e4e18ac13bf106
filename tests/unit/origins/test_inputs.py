"""What rules ask for: which age of a corpus counts, and settings by the names that steps have for them."""

from types import SimpleNamespace

import pytest
from snakemake.io import is_flagged

from biaslab.core.settings import plain
from biaslab.origins.inputs import Inputs
from biaslab.origins.settings import Setup

WILDCARDS = SimpleNamespace(setup="mine", batch="1")


def inputs(checksum="", **changed):
    setup = plain(Setup()) | changed
    return Inputs(
        SimpleNamespace(
            config={"origins": {"setups": {"mine": setup}}},
            units={"origins": SimpleNamespace(names=("mine",))},
            source=lambda source: f"file of {source}",
            checksum=lambda source: checksum,
        )
    )


@pytest.mark.parametrize(("checksum", "counts"), [("", True), ("1a2b", False)])
def test_the_age_of_an_own_corpus_counts_and_that_of_a_verified_copy_does_not(checksum, counts):
    found = inputs(checksum).corpus_source(WILDCARDS)
    assert found == f"file of {Setup().corpus.source}"
    assert is_flagged(found, "ancient") != counts


def test_settings_are_given_by_their_names_or_by_others():
    given = inputs(randomised={"embeddings": 7}).keys("randomised", count="embeddings")
    assert given(WILDCARDS) == {"count": 7}
    assert inputs().keys("perturbations", "random_sets", "estimator")(WILDCARDS) == {
        "random_sets": 1,
        "estimator": "influence",
    }


def test_what_embeddings_are_trained_and_measured_with_is_of_this_setup():
    glove = plain(Setup().glove) | {"epochs": 3, "x_max": 20.0}
    made = inputs(glove=glove)
    assert made.glove(WILDCARDS)["model"]["epochs"] == 3
    assert made.influence(WILDCARDS) == {"influence": {"damping": 0.0, "x_max": 20.0, "alpha": 0.75}}
    model = made.word2vec(SimpleNamespace(setup="mine", trained="baseline"))["model"]
    assert model == {"dimension": 24, "window": 8, "epochs": 4, "learning_rate": 0.1}


def test_a_job_leaves_out_its_share_of_the_sets_and_all_tables_are_read():
    made = inputs(lds={"subsets": 7, "shares": [0.5], "retrainings": 2}, trainings_per_job=5)
    assert made.retrained_batch("lds")(WILDCARDS) == {"first": 5, "count": 2, "trainings": 2}
    files = [f"results/origins/mine/lds/retrained/batch-{batch}.tsv" for batch in (0, 1)]
    assert made.retrained("lds")(WILDCARDS) == files
