"""What attributions that the workflow leaves out say of the documents of a finished run."""

from pathlib import Path

import numpy as np

from biaslab.core.errors import InputError
from biaslab.embeddings.glove import GloveParameters
from biaslab.origins.attribution import asking
from biaslab.origins.attribution.registry import OTHERS, attribution
from biaslab.origins.attribution.scanner import Training, read_scanner
from biaslab.origins.attribution.settings import InfluenceParameters, damping_of

NAMES = tuple(a.name for a in OTHERS)


def estimate(
    name: str, results: Path, word_sets: Path, parameters: GloveParameters, seed: int, threads: int
) -> np.ndarray:
    """Return what an attribution says of every document, averaged over the run's baselines: (n_documents,).

    `results` is the folder of the setup, `parameters` and `seed` are those of its baselines.
    """
    batches = sorted(results.glob("embeddings/baseline/batch-*.npz"), key=lambda p: (len(p.name), p.name))
    if not batches:
        raise InputError(
            f"{results}/embeddings/baseline: no embeddings, on which {name} is estimated; name the folder of"
            " a run that still has them"
        )
    influence = InfluenceParameters(
        damping=damping_of(parameters), x_max=parameters.x_max, alpha=parameters.alpha
    )
    files = (results / file for file in ("cooccurrence.npz", "corpus.npz", "vocabulary.tsv"))
    scanner, (test,) = read_scanner(batches, *files, [word_sets], influence, threads)
    scanner.training = Training(parameters, seed)
    return asking.of_documents(attribution(name), scanner, test).values.mean(axis=0)
