"""Run the experiment on one corpus: train a method, test it, and explain its use of identifiers."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
from pydantic import BeforeValidator

from biaslab.core.files import write_json
from biaslab.core.io import write_parquet, write_tsv
from biaslab.core.rng import stream
from biaslab.hate_speech.adapters import FolderClassifier
from biaslab.hate_speech.contexts import OC, ContextSettings
from biaslab.hate_speech.corpus import ENCODER_VOCABULARY, Folder, prediction_table
from biaslab.hate_speech.explanations import Explainer, explain_sentences, summarize
from biaslab.hate_speech.measurement import measure_encoders
from biaslab.hate_speech.methods import SOC, Method, parse_method
from biaslab.hate_speech.metrics import COLUMNS
from biaslab.hate_speech.training import Regularization, TrainingData, TrainingSettings, train
from biaslab.text.corpora import TEST, VALIDATION
from biaslab.text.devices import choose_device, make_deterministic
from biaslab.text.encoder import load_classifier, predict, save_classifier
from biaslab.text.labelled import read_texts
from biaslab.text.language_model import BiGRU, LanguageModelSettings, train_language_model
from biaslab.text.tokens import TRAINED_LENGTH

LANGUAGE_MODEL = "language_model.safetensors"

Progress = Callable[[str], None]


def model_folder(folder: Path, method: str, seed: int) -> Path:
    """Return the folder of a trained classifier."""
    return folder / "models" / method / str(seed)


def fit_language_model(
    folder: Folder,
    settings: LanguageModelSettings,
    seed: int,
    say: Progress = lambda _: None,
    threads: int = 1,
) -> None:
    """Train the language model that samples contexts, on the training texts of encoders."""
    make_deterministic(threads)
    validation = folder.splits[VALIDATION].tokens
    model, history = train_language_model(
        folder.train.tokens,
        validation,
        folder.tokenizer,
        settings,
        seed,
        progress=lambda done, n: say(f"language model: {done} of {n} epochs"),
    )
    model.save(folder.path / LANGUAGE_MODEL)
    write_tsv(folder.path / "language_model.tsv", history)


def train_method(
    folder: Folder,
    method: Annotated[Method, BeforeValidator(parse_method)],
    settings: TrainingSettings,
    contexts: ContextSettings,
    number: int,
    seed: int,
    progress: Callable[[int, int], None] = lambda done, n: None,
    threads: int = 1,
) -> None:
    """Train one classifier, or resume its training; methods with the same number share random streams."""
    make_deterministic(threads)
    device = choose_device("auto")
    out = model_folder(folder.path, method.name, number)
    training_seed = int(stream(seed, "classifier", number).integers(2**31))
    model = load_classifier(folder.encoder, training_seed)
    language_model = BiGRU.load(folder.path / LANGUAGE_MODEL).to(device) if method.kind == SOC else None
    validation = folder.splits[VALIDATION]
    texts = folder.train
    data = TrainingData(texts.tokens, texts.labels, validation.tokens, validation.labels, folder.tokenizer)
    regularization = Regularization(method, folder.ids, contexts, language_model)
    checkpoint = out / "checkpoint.safetensors"
    history = train(model, data, settings, regularization, training_seed, device, checkpoint, progress)
    save_classifier(model.to("cpu"), out, folder.encoder / ENCODER_VOCABULARY)
    write_tsv(out / "history.tsv", history)
    for file in out.glob("checkpoint*"):
        file.unlink()


def evaluate_encoders(
    folder: Folder,
    methods: list[str],
    numbers: dict[str, list[int]],
    contexts: ContextSettings,
    regularization: ContextSettings,
    batch_size: int,
    seed: int,
    say: Progress = lambda _: None,
    threads: int = 1,
) -> None:
    """Write the predictions of trainings, the importance of identifiers in the test set, and measures.

    `seed` is the seed of the run, so that contexts are the same for every classifier. `regularization`
    has the contexts used in training.
    """
    make_deterministic(threads)
    device = choose_device("auto")
    language_model = BiGRU.load(folder.path / LANGUAGE_MODEL).to(device)
    tokens, ids = folder.splits[TEST].tokens, folder.ids
    for method in map(parse_method, methods):
        predictions, attributions = [], [pd.DataFrame(columns=COLUMNS["attributions"])]
        for done, number in enumerate(numbers[method.name], start=1):
            model = load_classifier(model_folder(folder.path, method.name, number)).to(device)
            for name, texts in folder.tested.items():
                removed = list(ids.values()) if method.removes_words else []
                scores = predict(model, texts.tokens.without(removed), folder.tokenizer.pad)
                predictions.append(prediction_table(number, name, scores))
            if not method.removes_words:
                for explanation, settings in (("oc", OC), ("soc", contexts)):
                    explainer = Explainer(model, folder.tokenizer, settings, language_model, seed)
                    table = summarize(explainer.identifier_importance(tokens, ids), ids)
                    names = {"method": method.name, "seed": number, "explanation": explanation}
                    attributions.append(table.assign(**names)[list(COLUMNS["attributions"])])
            say(f"{method.name}: tested {done} of {len(numbers[method.name])}")
        table = pd.concat(attributions[1:] or attributions, ignore_index=True)
        write_tsv(folder.path / f"attributions/{method.name}.tsv", table)
        table = pd.concat(predictions, ignore_index=True)
        write_parquet(folder.path / f"predictions/{method.name}.parquet", table)
    measure_encoders(folder, methods, regularization, batch_size)


def drawn_rows(folder: Folder, n: int, seed: int) -> np.ndarray:
    """Return rows of test sentences with at least two words, drawn once for all classifiers, sorted."""
    tokens = folder.splits[TEST].tokens
    long = np.flatnonzero(np.maximum.reduceat(tokens.words, tokens.offsets[:-1]) >= 1)
    rows = stream(seed, "explained").permutation(long)[:n]
    return np.sort(rows)


def explain_methods(
    folder: Folder,
    methods: Sequence[str],
    sentences: Path,
    contexts: ContextSettings,
    n: int,
    seed: int,
    say: Callable[[str], None] = lambda _: None,
    threads: int = 1,
) -> None:
    """Explain the first classifier of each method on the words of `n` test sentences, and on `sentences`."""
    make_deterministic(threads)
    device = choose_device("auto")
    texts = list(read_texts(sentences)["text"])
    language_model = BiGRU.load(folder.path / LANGUAGE_MODEL).to(device)
    tables, hierarchies = [], []
    for method in methods:
        model = load_classifier(model_folder(folder.path, method, 0)).to(device)
        explainer = Explainer(model, folder.tokenizer, contexts, language_model, seed)
        words = explainer.explain_words(folder.splits[TEST].tokens, drawn_rows(folder, n, seed))
        tables.append(word_importance(words, list(folder.ids)).assign(method=method))
        classifier = FolderClassifier(model, folder.tokenizer, TRAINED_LENGTH)
        hierarchies += [
            {"method": method, "sentence": item.words, "score": item.score, "levels": item.levels}
            for item in explain_sentences(classifier, texts, contexts, language_model, seed)
        ]
        say(f"explained {method}")
    importance = pd.concat(tables, ignore_index=True)[list(COLUMNS["importance"])]
    write_tsv(folder.path / "importance.tsv", importance)
    write_json(folder.path / "hierarchies.json", hierarchies)


def word_importance(words: pd.DataFrame, identifiers: Sequence[str]) -> pd.DataFrame:
    """Return the mean importance of every word of `explain_words` (Table 2), by rank, then alphabetically."""
    phi = words.groupby("word")["phi"]
    table = pd.DataFrame({"n": phi.size(), "mean_phi": phi.mean()}).reset_index()
    table = table.sort_values("mean_phi", ascending=False, kind="stable", ignore_index=True)
    return table.assign(is_identifier=table["word"].isin(identifiers), rank=range(1, len(table) + 1))
