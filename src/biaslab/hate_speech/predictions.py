"""The table of scores that a classifier gives to sets of texts."""

import numpy as np
import pandas as pd


def prediction_table(seed: int, name: str, scores: np.ndarray) -> pd.DataFrame:
    """Return the scores of one classifier on one set: columns seed, set, row, score (float32)."""
    rows = np.arange(len(scores))
    return pd.DataFrame({"seed": seed, "set": name, "row": rows, "score": scores.astype(np.float32)})
