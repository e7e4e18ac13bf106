"""Removed commands of the previous release, and their replacements."""

from collections.abc import Sequence

from biaslab.core.errors import InputError

_STEP = "for intermediate files, use biaslab step"
SUCCESSORS = {
    "audit check": "use biaslab audit measure FOLDER --check",
    "audit codecheck": "use biaslab audit crate RESULTS --codecheck codecheck.yml",
    "audit freeze": "use biaslab audit measure FOLDER --freeze",
    "audit merge": "run the parts one after the other: biaslab audit crate, then biaslab run --from",
    "audit resources": "every run writes results/logs/resources.tsv",
    "debiasing analogies": "name the embedding in debiasing.embeddings; biaslab run writes its analogies",
    "debiasing compare": "name the embedding in debiasing.embeddings; biaslab run compares the methods",
    "debiasing hard": "use biaslab debiasing apply --method hard",
    "debiasing measure": "use biaslab debiasing audit",
    "debiasing rank": "use biaslab debiasing audit with several embeddings",
    "debiasing soft": "use biaslab debiasing apply --method soft",
    "embeddings count-cooccurrences": f"use biaslab embeddings train; {_STEP} embeddings.count-cooccurrences",
    "embeddings export": "use biaslab embeddings convert",
    "embeddings read-corpus": f"use biaslab embeddings train; {_STEP} embeddings.read-corpus",
    "embeddings train-glove": f"use biaslab embeddings train; {_STEP} embeddings.train-glove",
    "fairness-testing import-weights": "call biaslab.classifiers.tensorflow_bundle.load_bundle",
    "fairness-testing judge": "use biaslab fairness-testing audit",
    "fairness-testing run": "use biaslab fairness-testing search",
    "fairness-testing text": "use biaslab fairness-testing audit-texts",
    "hate-speech bias": "use biaslab hate-speech audit --news",
    "hate-speech evaluate": "use biaslab hate-speech audit",
    "ranking generate": "draw lists with numpy and write them with pandas",
    "ranking measure": "use biaslab ranking audit",
    "datasets make": "use biaslab datasets fetch NAME --made-of FILE --out FILE",
    "origins differential-bias": "use biaslab origins attribute",
    "origins evaluate": "use biaslab origins attribute --verify",
    "origins measure-baseline": "use biaslab origins attribute",
    "origins measure-sets": "use biaslab origins attribute --verify",
    "origins predict-sets": "use biaslab origins attribute --verify",
    "origins select-sets": "use biaslab origins attribute --verify",
}
"""Messages with the replacement of each removed command, by command without ``biaslab``."""


def refuse_removed(arguments: Sequence[str]) -> None:
    """Refuse a removed command, with its replacement in the message.

    Raises
    ------
    InputError
        If the arguments begin with a removed command.
    """
    for length in (1, 2):
        name = " ".join(arguments[:length])
        if name in SUCCESSORS:
            raise InputError(f"biaslab {name} was removed; {SUCCESSORS[name]}")
