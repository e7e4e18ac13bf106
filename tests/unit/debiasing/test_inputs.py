"""What a run of the debiasing area works on."""

from biaslab.debiasing import choice as inputs

CONFIG = {
    "setups": {"sample": {}, "nyt": {}},
    "debiasing": {"embeddings": ["w2vnews", "sample", "nyt"], "benchmarks": ["rg65", "msr"]},
}


def test_datasets_are_those_of_embeddings_benchmarks_and_authors():
    assert inputs.wanted_datasets(CONFIG) == {"w2vnews", "msr-syntax", *inputs.AUTHORS.values()}


def test_the_authors_lists_are_not_wanted_for_own_embeddings():
    own = {"setups": {"sample": {}}, "debiasing": {"embeddings": ["sample"], "benchmarks": ["rg65"]}}
    assert inputs.wanted_datasets(own) == set()


def test_everything_is_there():
    found = inputs.choose_inputs(CONFIG, {"sample", "nyt"}, {})
    assert found.embeddings == {"w2vnews": "w2vnews", "sample": None, "nyt": None}
    assert found.benchmarks == {"rg65": None, "msr": "msr-syntax"}
    assert found.questions == ["msr"]
    assert found.authors == inputs.AUTHORS
    assert found.left_out == {}


def test_what_is_not_there_is_left_out_with_the_reason():
    absent = {"w2vnews": "no network", "msr-syntax": "no wheel", "debiaswe-equalize": "no mirror"}
    found = inputs.choose_inputs(CONFIG, {"sample"}, absent)
    assert found.embeddings == {"sample": None}
    assert found.benchmarks == {"rg65": None}
    assert found.left_out == {
        "w2vnews": "no network",
        "msr": "no wheel",
        "nyt": "the setup nyt is not run",
    }
    assert set(found.authors) == {"occupations", "specific", "seeds"}
