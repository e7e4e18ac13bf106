"""What ADF makes of neutral sentences, to show how a search goes (Figure 4)."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from biaslab.fairness_testing.text.corpus import Prepared, holding
from biaslab.fairness_testing.text.discrimination import check
from biaslab.fairness_testing.text.names import PROPOSED
from biaslab.fairness_testing.text.search import MAX_ITER, draw_numbers, search_globally, search_locally
from biaslab.fairness_testing.text.strategies import STRATEGIES
from biaslab.fairness_testing.text.subject import TextSubject
from biaslab.text.models import TextModel
from biaslab.text.words import Lexicon, Texts

HOPS = 20


def examples(
    corpus: str, kind: str, network: TextModel, prepared: Prepared, seed: int
) -> Iterator[dict[str, Any]]:
    """Yield what both phases make of the sentences of a corpus, for each feature whose term they hold."""
    for feature, values in prepared.values.items():
        subject = TextSubject(network, values, prepared.neighbours)
        rows = np.flatnonzero(holding(prepared.sentences, values))
        texts = prepared.sentences.take(rows)
        draws = draw_numbers(seed, f"example {kind} {feature}", rows, max(HOPS, MAX_ITER))
        search = search_globally(subject, texts, STRATEGIES[PROPOSED], draws)
        walks = search_locally(subject, search.texts, HOPS, True, draws)
        visited = walks.texts()
        begins = np.concatenate([[0], np.cumsum(walks.is_visit.sum(axis=1))])
        for i in range(len(rows)):
            hits = np.flatnonzero(walks.discriminatory[i])
            found = search.texts.row(i) if search.found[i] >= 0 else None
            local = visited.row(begins[i] + hits[0]) if found is not None and len(hits) else None
            shown = _shown(subject, prepared.lexicon, texts.row(i), found, local)
            yield {"corpus": corpus, "model": kind, "feature": feature} | shown


def _shown(
    subject: TextSubject,
    lexicon: Lexicon,
    sentence: np.ndarray,
    found: np.ndarray | None,
    local: np.ndarray | None,
) -> dict[str, Any]:
    at = check(subject, Texts.of([sentence if found is None else found]))
    partner = int(subject.model.probabilities(at.partners).argmax(axis=1)[0])
    exchanged = lexicon.decode([int(at.replaced[0]), int(at.value[0])])
    return {
        "sentence": lexicon.decode(sentence),
        "global": None if found is None else lexicon.decode(found),
        "partner": None if found is None else dict(zip(("from", "to"), exchanged, strict=True)),
        "local": None if local is None else lexicon.decode(local),
        "labels": {"x": int(at.labels[0]), "partner": partner},
    }
