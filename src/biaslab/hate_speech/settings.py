"""Settings of the area: its section of the configuration."""

from dataclasses import field
from typing import Annotated, Literal

from annotated_types import Ge, Le
from pydantic import Field
from pydantic.dataclasses import dataclass

from biaslab.core.settings import DISTINCT, ONE_OR_MORE, PYDANTIC, Count, Integer, Natural, Positive
from biaslab.text.settings import EncoderSource, LanguageModel, Masking, NegativeWeight

PUBLISHED, MODERN = "published", "modern"


_Names = tuple[Annotated[str, "the name of a corpus"], ...]
_Limit, _LimitOfTraining = Annotated[Integer, Ge(10)], Annotated[Integer, Ge(20)]
_RESOURCES = "workflow/resources/hate_speech"


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Training:
    """How encoders are fine-tuned."""

    schedule: Annotated[
        Literal["published", "modern"],
        "published: as in the paper and its code; modern: AdamW with linear warm-up and decay",
    ] = MODERN
    epochs: Annotated[Count, "maximum number of passes over the training sentences"] = 2
    batch_size: Annotated[Count, "sentences per step"] = 32
    learning_rate: Annotated[Positive, "largest step size"] = 0.001
    validate_every: Annotated[Count, "steps between two validations"] = 25
    halvings: Annotated[Count, "halvings of the step size at which training stops (published only)"] = 5


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class TrainingSettings(Training):
    """Settings of fine-tuning with the class weight of a corpus."""

    negative_weight: NegativeWeight


@dataclass(frozen=True, config=PYDANTIC)
class Limits:
    """How many sentences of each set are used, drawn with the share of positive ones kept; null for all."""

    train: Annotated[
        _LimitOfTraining | None, "sentences to train encoders on, 20 or more; linear models use all"
    ] = 1600
    validation: Annotated[_Limit | None, "sentences to choose the best weights on, 10 or more"] = 250
    test: Annotated[_Limit | None, "sentences to test on, 10 or more"] = None
    probes: Annotated[_Limit | None, "texts of each further test set (news, HateCheck, ...), 10 or more"] = (
        500
    )


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Encoder(EncoderSource):
    """The encoder that is fine-tuned."""

    layers: Annotated[Count | None, "layers to keep, from the first; null for all"] = 1


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class TrainingContexts:
    """The contexts of SOC in training."""

    radius: Annotated[Natural, "word pieces on each side that are sampled"] = 5
    samples: Annotated[
        Count, "contexts for each occurrence of an identifier; the unchanged sentence is one more"
    ] = 5


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class AnalysisContexts:
    """The contexts of SOC when classifiers are explained, and how much is explained."""

    radius: Annotated[Natural, "word pieces on each side that are sampled"] = 20
    samples: Annotated[Count, "contexts for each phrase"] = 5
    sentences: Annotated[Count, "test sentences whose every word is explained (Table 2)"] = 40


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Corpus:
    """The inputs of a corpus besides its texts."""

    identifiers: Annotated[str, "the identity terms (.yaml or .txt)"] = ""
    news: Annotated[str | None, "texts without hate that hold an identity term (.jsonl); null for none"] = (
        "dataset:news-identity"
    )
    sentences: Annotated[str, "sentences to explain in figures, one per line"] = f"{_RESOURCES}/sentences.txt"
    negative_weight: Annotated[NegativeWeight, Le(1)] = 0.125


CORPORA = {
    "stormfront": Corpus(identifiers=f"{_RESOURCES}/identifiers_stormfront.yaml"),
    "ghc": Corpus(identifiers=f"{_RESOURCES}/identifiers_ghc.yaml", negative_weight=0.1),
    "example": Corpus(
        identifiers=f"{_RESOURCES}/identifiers_example.yaml",
        news=f"{_RESOURCES}/example_news.jsonl",
        sentences=f"{_RESOURCES}/sentences_example.txt",
        negative_weight=0.5,
    ),
}


@dataclass(frozen=True, kw_only=True, config=PYDANTIC)
class Section(Masking):
    """Corpora, methods and training of hate speech classifiers (Kennedy et al. 2020)."""

    run: Annotated[
        _Names,
        "list of the corpora to train on, by their names under corpora; absent corpora are skipped",
        *ONE_OR_MORE,
    ] = ("stormfront", "ghc")
    linear_only: Annotated[
        _Names, "list of the corpora of run on which no encoder is trained, only bow and bow-wr", DISTINCT
    ] = ("ghc",)
    otherwise: Annotated[
        _Names, "list of the corpora to train on when no corpus of run is present", DISTINCT
    ] = ("example",)
    transfer: Annotated[
        _Names,
        "list of the corpora whose test sets all classifiers are also tested on (Table 5); absent corpora"
        " are skipped",
        DISTINCT,
    ] = ("stormfront", "ghc")
    corpora: Annotated[
        dict[
            Annotated[
                str,
                "lower-case letters, digits, _ and - (not tables, figures, encoder, nor the name of a set of"
                " texts)",
                Field(
                    pattern="^(?!(tables|figures|encoder|train|validation|test|news|hatecheck)$)"
                    "[a-z][a-z0-9_-]*$"
                ),
            ],
            Corpus,
        ],
        "inputs of corpora besides their texts, by their names under the key corpora",
    ] = field(default_factory=lambda: CORPORA)
    hatecheck: Annotated[str | None, "HateCheck's test cases (.csv); null for none"] = "dataset:hatecheck"
    encoder: Encoder = Encoder()
    limits: Limits = Limits()
    seeds: Annotated[Count, "trainings of each method, which differ in their seed"] = 3
    methods: Annotated[
        tuple[
            Annotated[
                str,
                "bow, bow-wr, vanilla, wr, or oc-, soc- or ear- with the strength of the regularization,"
                " soc-0.1 for instance",
                Field(pattern="^(bow|bow-wr|vanilla|wr|(oc|soc|ear)-[0-9]+([.][0-9]+)?)$"),
            ],
            ...,
        ],
        "list of the methods to compare; bow and vanilla are the baselines",
        *ONE_OR_MORE,
    ] = ("bow", "bow-wr", "vanilla", "wr", "oc-0.1", "soc-0.1", "soc-1", "ear-0.01")
    explained: Annotated[
        str,
        "the method of methods that figures compare with vanilla, and that the ablation switches the"
        " quirks of",
    ] = "soc-0.1"
    ablation: Annotated[
        tuple[
            Annotated[
                Literal["dropout", "independent", "pad", "sum", "published"],
                "a quirk of the published code: dropout, independent, pad, sum, or published for all",
            ],
            ...,
        ],
        "list of the quirks of the published code to switch on, one classifier for each",
        DISTINCT,
    ] = ("dropout", "independent", "pad", "sum", "published")
    ablation_seeds: Annotated[Natural, "trainings per quirk; 0 for none"] = 1
    training: Training = Training()
    language_model: LanguageModel = LanguageModel(epochs=2, learning_rate=0.002, width=100)
    regularization: TrainingContexts = TrainingContexts()
    analysis: AnalysisContexts = AnalysisContexts()
    linear_splits: Annotated[Count, "random splits on which linear models are measured"] = 10
    removal_subsets: Annotated[
        Count, "random subsets of identifiers of each size that are removed (Figure 2)"
    ] = 5
