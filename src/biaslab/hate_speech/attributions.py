"""The importance of identifiers in texts that a classifier was not trained on."""

from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd
import torch

from biaslab.hate_speech.contexts import ContextSettings, fill_contexts
from biaslab.hate_speech.explanations import MAX_TOKENS, find_occurrences, importance, passes
from biaslab.hate_speech.identity_metrics import holding
from biaslab.text.devices import generator
from biaslab.text.encoder import batches_by_length, evaluating
from biaslab.text.language_model import BiGRU
from biaslab.text.packing import score
from biaslab.text.tokens import Tokenizer, Tokens


def identifier_importance(
    model: torch.nn.Module,
    tokens: Tokens,
    ids: Mapping[str, int],
    settings: ContextSettings,
    tokenizer: Tokenizer,
    language_model: BiGRU | None,
    seed: int,
    max_tokens: int = MAX_TOKENS,
) -> pd.DataFrame:
    """Return φ (Eq. 1) of every occurrence of an identifier: columns row (of the text), identifier, phi.

    Equal seeds draw equal contexts for every model; a radius above 0 needs a language model.
    """
    rows = np.flatnonzero(holding(tokens, list(ids.values())).any(axis=1))
    names = {piece: name for name, piece in ids.items()}
    tables, score_of = [], partial(score, model)
    with evaluating(model), torch.no_grad():
        for number, some in enumerate(
            batches_by_length(tokens.lengths[rows], max_tokens // (2 * settings.n_contexts))
        ):
            padded = tokens.padded(rows[some], tokenizer.pad)
            batch, mask = (torch.from_numpy(array).to(model.device) for array in padded)
            found = find_occurrences(batch.cpu().numpy(), ids.values())
            random = generator(seed, "identifiers", number, device=model.device)
            filled = fill_contexts(batch, mask, found, settings, language_model, tokenizer, random)
            parts = [
                importance(score_of, batch, mask, found.part(part), filled[part], tokenizer.pad)
                for part in passes(filled, max_tokens)
            ]
            pieces = batch.cpu().numpy()[found.row, found.start]
            tables.append(
                pd.DataFrame(
                    {
                        "row": rows[some][found.row],
                        "identifier": [names[piece] for piece in pieces.tolist()],
                        "phi": torch.cat(parts).double().cpu().numpy(),
                    }
                )
            )
    if not tables:
        return pd.DataFrame({"row": [], "identifier": [], "phi": []})
    return pd.concat(tables, ignore_index=True).sort_values("row", kind="stable", ignore_index=True)


def summarize(occurrences: pd.DataFrame, ids: Mapping[str, int]) -> pd.DataFrame:
    """Return how important each identifier is: columns identifier, n (perhaps 0), mean_phi, mean_abs_phi."""
    phi = occurrences.groupby("identifier")["phi"]
    absolute = phi.agg(lambda values: float(values.abs().mean()))
    table = pd.DataFrame({"n": phi.size(), "mean_phi": phi.mean(), "mean_abs_phi": absolute})
    table = table.reindex(list(ids)).rename_axis("identifier").reset_index()
    return table.assign(n=table["n"].fillna(0).astype(np.int64))
