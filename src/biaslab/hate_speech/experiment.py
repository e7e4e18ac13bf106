"""The experiment on one corpus: train a method, test it, and measure what it makes of identifiers."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from biaslab.core.io import write_parquet, write_tsv
from biaslab.core.rng import stream
from biaslab.hate_speech.attributions import identifier_importance, summarize
from biaslab.hate_speech.columns import COLUMNS
from biaslab.hate_speech.contexts import OC, ContextSettings
from biaslab.hate_speech.folder import ENCODER_VOCABULARY, Folder
from biaslab.hate_speech.measurement import measure_encoders
from biaslab.hate_speech.methods import SOC, Method, parse_method
from biaslab.hate_speech.predictions import prediction_table
from biaslab.hate_speech.training import Regularization, TrainingData, TrainingSettings, train
from biaslab.text.corpora import TEST, VALIDATION
from biaslab.text.devices import choose_device, make_deterministic
from biaslab.text.encoder import load_classifier, predict, save_classifier
from biaslab.text.language_model import BiGRU, LanguageModelSettings, train_language_model

LANGUAGE_MODEL = "language_model.safetensors"

Progress = Callable[[str], None]


def model_folder(folder: Path, method: str, seed: int) -> Path:
    """Return where a trained classifier lies."""
    return folder / "models" / method / str(seed)


def fit_language_model(
    folder: Folder,
    settings: LanguageModelSettings,
    seed: int,
    say: Progress = lambda _: None,
    threads: int = 1,
) -> None:
    """Train the language model that samples contexts, on the texts that encoders are trained on."""
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
    method: Method,
    settings: TrainingSettings,
    contexts: ContextSettings,
    number: int,
    seed: int,
    device: torch.device | None = None,
    progress: Callable[[int, int], None] | None = None,
    threads: int = 1,
) -> None:
    """Train one classifier; a training that was killed goes on from its last validation.

    All methods share their random streams at equal numbers.
    """
    make_deterministic(threads)
    device = device or choose_device("auto")
    out = model_folder(folder.path, method.name, number)
    training_seed = int(stream(seed, "classifier", number).integers(2**31))
    model = load_classifier(folder.encoder, training_seed)
    language_model = BiGRU.load(folder.path / LANGUAGE_MODEL).to(device) if method.kind == SOC else None
    validation = folder.splits[VALIDATION]
    used = folder.train
    data = TrainingData(used.tokens, used.labels, validation.tokens, validation.labels, folder.tokenizer)
    regularization = Regularization(method, folder.ids, contexts, language_model)
    checkpoint = out / "checkpoint.safetensors"
    history = train(
        model, data, method, settings, regularization, training_seed, device, checkpoint, progress
    )
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
    """Test the trainings of methods that fine-tune the encoder, `numbers` of each, and measure these methods.

    `contexts` are those that explain the classifiers, those of the `regularization` trained them.
    """
    for name in methods:
        evaluate_method(folder, parse_method(name), numbers[name], contexts, seed, say=say, threads=threads)
    measure_encoders(folder, methods, regularization, batch_size)


def evaluate_method(
    folder: Folder,
    method: Method,
    numbers: Sequence[int],
    contexts: ContextSettings,
    seed: int,
    device: torch.device | None = None,
    say: Progress = lambda _: None,
    threads: int = 1,
) -> None:
    """Test the classifiers of a method: predictions and attributions.

    The seed is that of the run: contexts are the same for every classifier.
    """
    make_deterministic(threads)
    device = device or choose_device("auto")
    language_model = BiGRU.load(folder.path / LANGUAGE_MODEL).to(device)
    predictions, attributions = [], []
    for done, number in enumerate(numbers, start=1):
        model = load_classifier(model_folder(folder.path, method.name, number)).to(device)
        for name, texts in folder.tested.items():
            removed = list(folder.ids.values()) if method.removes_words else []
            scores = predict(model, texts.tokens.without(removed), folder.tokenizer.pad, device=device)
            predictions.append(prediction_table(number, name, scores))
        names = {"method": method.name, "seed": number}
        attributions += [
            table.assign(**names, explanation=kind)
            for kind, table in _attributed(folder, method, model, contexts, language_model, seed)
        ]
        say(f"{method.name}: tested {done} of {len(numbers)}")
    table = pd.concat(attributions, ignore_index=True) if attributions else pd.DataFrame()
    path = folder.path
    write_parquet(path / f"predictions/{method.name}.parquet", pd.concat(predictions, ignore_index=True))
    write_tsv(path / f"attributions/{method.name}.tsv", table.reindex(columns=COLUMNS["attributions"]))


def _attributed(
    folder: Folder,
    method: Method,
    model: torch.nn.Module,
    contexts: ContextSettings,
    language_model: BiGRU,
    seed: int,
) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield OC's and SOC's importance of the identifiers in the test set; none for words that are removed."""
    if method.removes_words:
        return
    tokens = folder.splits[TEST].tokens
    for kind, settings in (("oc", OC), ("soc", contexts)):
        found = identifier_importance(
            model, tokens, folder.ids, settings, folder.tokenizer, language_model, seed
        )
        yield kind, summarize(found, folder.ids)


def drawn_rows(folder: Folder, n: int, seed: int) -> np.ndarray:
    """Return rows of test sentences with two words or more, drawn once for all classifiers, sorted."""
    tokens = folder.splits[TEST].tokens
    long = np.flatnonzero(np.maximum.reduceat(tokens.words, tokens.offsets[:-1]) >= 1)
    chosen = stream(seed, "explained").permutation(long)[:n]
    return np.sort(chosen)
