from biaslab.fairness_testing.choice import choose_inputs, wanted_datasets

SECTION = {
    "run": ["census", "mine"],
    "otherwise": ["adult"],
    "classifiers": {
        "census": {
            "schema": "c.yaml",
            "data": "dataset:adf-census",
            "network": "dataset:adf-census-network",
            "clusters": "dataset:adf-census-clusters",
        },
        "mine": {"schema": "m.yaml", "data": "m.csv", "network": "m.npz", "clusters": None},
        "adult": {
            "schema": "a.yaml",
            "data": "dataset:uci-adult-train",
            "network": "train",
            "clusters": None,
        },
    },
}


def config(**changes):
    return {"fairness_testing": {**SECTION, **changes}}


def test_datasets_of_all_classifiers_are_wanted():
    wanted = {"adf-census", "adf-census-network", "adf-census-clusters", "uci-adult-train"}
    assert wanted_datasets(config()) == wanted
    assert wanted_datasets(config(otherwise=[])) == wanted - {"uci-adult-train"}


def test_what_is_not_there_is_left_out_with_its_reason():
    inputs = choose_inputs(config(), {"adf-census-network": "not in the mirror"})
    assert list(inputs.classifiers) == ["mine"]
    assert inputs.classifiers["mine"]["network"] == "m.npz"
    assert inputs.left_out == {"census": "not in the mirror"}


def test_others_are_tested_when_nothing_else_is_there():
    absent = {"adf-census": "not in the mirror"}
    inputs = choose_inputs(config(run=["census"]), absent)
    assert list(inputs.classifiers) == ["adult"]
    assert inputs.classifiers["adult"]["network"] is None  # to be trained
    assert inputs.left_out == {"census": "not in the mirror"}
    nothing = choose_inputs(config(run=["census"]), absent | {"uci-adult-train": "no wheel"})
    assert nothing.classifiers == {}
    assert nothing.left_out == {"census": "not in the mirror", "adult": "no wheel"}
