"""The effect size of the word embedding association test (Caliskan et al. 2017), as one measure."""

from biaslab.bias.measures.contract import Measure
from biaslab.bias.weat import effect_size, effect_size_gradient
from biaslab.bias.word_sets import WEAT

MEASURE = Measure(
    WEAT,
    effect_size,
    effect_size_gradient,
    "all targets are equally near to both attribute sets",
)
