"""The section of the area in the configuration."""

from dataclasses import dataclass, field
from typing import Annotated

from biaslab.core.settings import SEED, Count, Field, Natural, Seed, Share
from biaslab.fairness_testing.text.settings import Section as TextSection

_Names = tuple[Annotated[str, "the name of a classifier"], ...]
_Several, _Hundred = Annotated[int, Field(ge=2)], Annotated[int, Field(ge=100)]
_OneOrMore = Field(is_filled=True, is_unique=True)
_RESOURCES = "workflow/resources/classifiers"


@dataclass(frozen=True, kw_only=True)
class Classifier:
    """A classifier and its data."""

    schema: Annotated[str, "schema of the columns of the data (.yaml)"] = ""
    data: Annotated[str, "a table (.csv), or dataset:NAME for a registered one"] = ""
    network: Annotated[
        str, "the weights (.npz), dataset:NAME for registered ones, or train to train a network on the data"
    ] = "train"
    clusters: Annotated[
        str | None,
        "the cluster of each row (.csv), or dataset:NAME for registered ones; null to cluster the rows",
    ] = None
    published_bounds: Annotated[
        str | None,
        "schema file whose bounds, column by column, the mode published takes for those of the protected"
        " attributes, as the authors' code takes those of census for every data set; null for the"
        " classifier's own",
    ] = None


def _of_authors(name: str) -> Classifier:
    return Classifier(
        schema=f"{_RESOURCES}/{name}.yaml",
        data=f"dataset:adf-{name}",
        network=f"dataset:adf-{name}-network",
        clusters=f"dataset:adf-{name}-clusters",
        published_bounds=f"{_RESOURCES}/census.yaml",
    )


CLASSIFIERS = {name: _of_authors(name) for name in ("census", "bank", "credit")} | {
    "adult": Classifier(schema=f"{_RESOURCES}/adult.yaml", data="dataset:uci-adult-train"),
    "german": Classifier(schema=f"{_RESOURCES}/german.yaml", data="dataset:uci-german"),
}


@dataclass(frozen=True, kw_only=True)
class Section:
    """Which classifiers are tested, and how long (Zhang et al. 2021)."""

    run: Annotated[
        _Names,
        "list of the classifiers to test, by their names under classifiers; what is not there is left out",
        _OneOrMore,
    ] = ("census", "bank", "credit")
    otherwise: Annotated[
        _Names, "list of the classifiers to test when none of run is there", Field(is_unique=True)
    ] = ("adult", "german")
    classifiers: Annotated[
        dict[
            Annotated[
                str,
                "lower-case letters, digits, _ and - (not tables, figures, text, nor text- at the beginning)",
                Field(pattern="^(?!tables$|figures$|text$|text-)[a-z][a-z0-9_-]*$"),
            ],
            Classifier,
        ],
        "classifiers, as name and the files it takes",
        Field(
            comments={
                "census": "the authors' data and network: downloaded or made where the mirror has none",
                "adult": "public data, and a network that is trained here",
            }
        ),
    ] = field(default_factory=lambda: CLASSIFIERS)
    seeds: Annotated[Count, "samples that the global phase starts from, or as many as the data have"] = 1000
    hops: Annotated[
        Count, "steps of the local phase from each discriminatory sample that the global phase found"
    ] = 1000
    ablation_hops: Annotated[
        Count, "the same, where the quirks of the published code are repaired one by one"
    ] = 50
    repetitions: Annotated[_Several, "searches with other random numbers, for the intervals"] = 3
    explanations: Annotated[Count, "samples that symbolic generation explains, in each search"] = 200
    uniform_samples: Annotated[
        _Hundred,
        "samples of the whole domain, of which the share that is discriminatory estimates fairness",
    ] = 100_000
    local_seeds: Annotated[
        Count, "discriminatory rows of the data from which all testers start to compare their local phases"
    ] = 50
    query_budgets: Annotated[
        tuple[Annotated[_Hundred, "model queries"], ...],
        "list of the budgets of model queries at which testers are compared; one and two protected attributes"
        " vary",
        _OneOrMore,
    ] = (10_000, 100_000)
    budget_hops: Annotated[Count, "steps of a walk where testers are compared at budgets"] = 100
    training_epochs: Annotated[Count, "passes over the data for a network that is trained here"] = 100
    retrainings: Annotated[_Several, "retrainings with other shares of the found samples"] = 3
    retraining_share: Annotated[
        Share, "share of the found samples that is added to the data for retraining"
    ] = 0.05
    text: TextSection = TextSection()


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """How much a tester searches."""

    seeds: Annotated[
        Count, "samples, or texts with a sensitive word, to search from; as many as symbolic explores"
    ]
    hops: Annotated[Natural, "steps of the walk around each find"]
    seed: Seed = SEED
