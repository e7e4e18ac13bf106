"""What a classifier finds important, before and after regularization: Table 2 and Figures 3 to 5."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from biaslab.core.files import write_json
from biaslab.core.io import write_tsv
from biaslab.hate_speech.columns import COLUMNS
from biaslab.hate_speech.contexts import ContextSettings
from biaslab.hate_speech.experiment import LANGUAGE_MODEL, drawn_rows, model_folder
from biaslab.hate_speech.explanations import explain_words, phrase_importance
from biaslab.hate_speech.folder import Folder
from biaslab.hate_speech.hierarchy import agglomerate
from biaslab.text.corpora import TEST
from biaslab.text.devices import choose_device, make_deterministic
from biaslab.text.encoder import load_classifier, predict
from biaslab.text.labelled import read_texts
from biaslab.text.language_model import BiGRU
from biaslab.text.tokens import Tokenizer


def explain_methods(
    folder: Folder,
    methods: Sequence[str],
    sentences: Path,
    contexts: ContextSettings,
    n: int,
    seed: int,
    device: torch.device | None = None,
    say: Callable[[str], None] = lambda _: None,
    threads: int = 1,
) -> None:
    """Explain the first classifier of each method: ``importance.tsv`` and ``hierarchies.json``.

    Every word of `n` test sentences, and `sentences`, one a line. Contexts are the same for every classifier.
    """
    make_deterministic(threads)
    device = device or choose_device("auto")
    texts = list(read_texts(sentences)["text"])
    language_model = BiGRU.load(folder.path / LANGUAGE_MODEL).to(device)
    tables, hierarchies = [], []
    for method in methods:
        model = load_classifier(model_folder(folder.path, method, 0)).to(device)
        words = explain_words(
            model,
            folder.splits[TEST].tokens,
            drawn_rows(folder, n, seed),
            contexts,
            folder.tokenizer,
            language_model=language_model,
            seed=seed,
        )
        tables.append(word_importance(words, list(folder.ids)).assign(method=method))
        hierarchies += [
            {"method": method, **found}
            for found in sentence_hierarchies(model, texts, contexts, folder.tokenizer, language_model, seed)
        ]
        say(f"explained {method}")
    importance = pd.concat(tables, ignore_index=True)[list(COLUMNS["importance"])]
    write_tsv(folder.path / "importance.tsv", importance)
    write_json(folder.path / "hierarchies.json", hierarchies)


def word_importance(words: pd.DataFrame, identifiers: Sequence[str]) -> pd.DataFrame:
    """Return the mean importance of every word (Table 2) of `explain_words`, by rank.

    Of equal means the first word in the order of the alphabet comes first.
    """
    phi = words.groupby("word")["phi"]
    table = pd.DataFrame({"n": phi.size(), "mean_phi": phi.mean()}).reset_index()
    table = table.sort_values("mean_phi", ascending=False, kind="stable", ignore_index=True)
    return table.assign(is_identifier=table["word"].isin(identifiers), rank=range(1, len(table) + 1))


def sentence_hierarchies(
    model: torch.nn.Module,
    sentences: Sequence[str],
    contexts: ContextSettings,
    tokenizer: Tokenizer,
    language_model: BiGRU,
    seed: int,
) -> list[dict[str, Any]]:
    """Return the hierarchical explanation of each sentence: sentence (its words), score, levels."""
    tokens = tokenizer.encode(sentences)
    scores = predict(model, tokens, tokenizer.pad)
    found = []
    for row, sentence in enumerate(sentences):
        phi = phrase_importance(
            model, tokens, row, contexts, tokenizer, language_model=language_model, seed=seed
        )
        n_words = int(tokens.words[tokens.offsets[row] : tokens.offsets[row + 1]].max()) + 1
        hierarchy = agglomerate(phi, n_words)
        words = tokenizer.words(sentence)[:n_words]
        levels = [[list(phrase) for phrase in level] for level in hierarchy.levels]
        found.append({"sentence": words, "score": float(scores[row]), "levels": levels})
    return found
