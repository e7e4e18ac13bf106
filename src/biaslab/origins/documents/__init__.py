"""Which documents a bias comes from: from texts to scores, without files and without a workflow.

The score of a document, and of a set of them, is B(w) - B(w~) (Equation 5 of Brunet et al. 2019): how much
the bias falls when it is left out, in units of the measure. Above 0 it raises the bias.
"""

from biaslab.origins.documents.scores import Scores, attribute
from biaslab.origins.documents.texts import Baselines, CountedTexts, count_texts, train_baselines

__all__ = [
    "Baselines",
    "CountedTexts",
    "Scores",
    "attribute",
    "count_texts",
    "train_baselines",
]
