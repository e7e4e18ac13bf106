"""What a method costs, counted: tokens that an encoder reads in a step of training (Table 6 counts minutes).

Minutes differ from machine to machine and from run to run; ``benchmarks/hate_speech.py`` measures them.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from biaslab.hate_speech.contexts import ContextSettings
from biaslab.hate_speech.methods import OC, SOC, Method
from biaslab.text.tokens import Tokens


def count_work(
    tokens: Tokens, ids: Sequence[int], methods: Sequence[Method], contexts: ContextSettings, batch_size: int
) -> pd.DataFrame:
    """Return how many tokens each method reads in a step, on average over a pass over the sentences.

    A sentence is read once for the classification loss, and for each regularized identifier in it twice in
    every context: with the identifier and without. Equal sentences count each time, padding does not. The
    ratio is that to the first method.
    """
    n_steps = -(-len(tokens) // batch_size)
    occurrences = np.add.reduceat(np.isin(tokens.ids, ids).astype(np.int64), tokens.offsets[:-1])
    rows = []
    for method in methods:
        read = tokens.without(ids) if method.removes_words else tokens
        n_contexts = {OC: 1, SOC: contexts.n_contexts}[method.kind] if method.explains else 0
        total = read.lengths.sum() + (2 * n_contexts * occurrences * tokens.lengths).sum()
        rows.append({"method": method.name, "n_steps": n_steps, "tokens_per_step": total / n_steps})
    table = pd.DataFrame(rows)
    return table.assign(ratio=table["tokens_per_step"] / table["tokens_per_step"].iloc[0])
