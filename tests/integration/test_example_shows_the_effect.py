"""The made-up example on the default's settings: the plain encoder leans on names, OC and SOC do not."""

from pathlib import Path

import pandas as pd
import pytest

from biaslab.run.data.datasets import load_registry, verified_copy
from biaslab.run.plan import config as configuration

pytest.importorskip("torch")


from biaslab.hate_speech import area
from biaslab.hate_speech.contexts import ContextSettings
from biaslab.hate_speech.corpus import Folder, Limits, Source, prepare
from biaslab.hate_speech.experiment import fit_language_model, model_folder, train_method
from biaslab.hate_speech.methods import parse_method
from biaslab.hate_speech.metrics import measure
from biaslab.hate_speech.training import TrainingSettings
from biaslab.text.devices import make_deterministic
from biaslab.text.encoder import EncoderFiles, load_classifier, predict, prepare_encoder
from biaslab.text.language_model import LanguageModelSettings

ROOT = Path(__file__).parents[2]
CONFIG = configuration.load({}, ROOT)
SECTION = CONFIG["hate_speech"]
EXAMPLE = area.corpora_in(CONFIG)["example"]
METHODS = ("vanilla", "oc-0.1", "soc-0.1")
SEED = 1


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    registry = load_registry(ROOT / configuration.REGISTRY)
    files = {}
    for part, source in area.encoder_files(SECTION).items():
        files[part] = ROOT / verified_copy(registry[source.removeprefix("dataset:")])
        if not files[part].is_file():
            pytest.skip("needs the encoder; `biaslab datasets fetch`, or a run of the area, downloads it")
    make_deterministic(1)
    made = tmp_path_factory.mktemp("example")
    prepare_encoder(EncoderFiles(**files), made / "encoder", SECTION["encoder"]["layers"], "pretrained", SEED)
    folder = Folder(made / "example", made / "encoder", ROOT / EXAMPLE["identifiers"])
    source = Source(EXAMPLE["format"], ROOT / EXAMPLE["source"])
    prepare(folder, source, {"news": ROOT / EXAMPLE["news"]}, {}, Limits(**SECTION["limits"]), SEED)
    model = dict(SECTION["language_model"])
    width = model.pop("width")
    fit_language_model(folder, LanguageModelSettings(width=width, **model), SEED)
    return pd.DataFrame(_train_all(folder)).set_index(["method", "set", "number"]).sort_index()


def _train_all(folder):
    settings = TrainingSettings(**SECTION["training"], negative_weight=EXAMPLE["negative_weight"])
    contexts = ContextSettings(**SECTION["regularization"])
    for name in METHODS:
        for number in range(SECTION["seeds"]):
            method = parse_method(name)
            train_method(folder, method, settings, contexts, number, SEED)
            model = load_classifier(model_folder(folder.path, name, number))
            for kind, texts in folder.tested.items():
                scores = predict(model, texts.tokens, folder.tokenizer.pad)
                found = measure(scores, texts.labels)._asdict()
                yield {"method": name, "set": kind, "number": number} | found


@pytest.mark.slow
def test_the_plain_encoder_learns_and_leans_on_the_identifiers(measured):
    test, news = measured.loc["vanilla", "test"], measured.loc["vanilla", "news"]
    share = test["n_positive"] / test["n"]
    assert (test["f1"] > 2 * share / (1 + share) + 0.2).all()  # more than calling every text positive has
    assert (test["accuracy"] > 1 - share + 0.1).all()
    accused = 1 - news["accuracy"]  # news complain of nothing
    negatives = test["n"] - test["n_positive"]
    wrong = (test["n"] * (1 - test["accuracy"]) - test["n_positive"] * (1 - test["recall"])) / negatives
    assert accused.mean() > 2 * wrong.mean()
    assert accused.mean() > 0.25


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS[1:])
def test_regularization_takes_that_away_at_little_cost(measured, method):
    plain, regularized = (1 - measured.loc[name, "news"]["accuracy"].mean() for name in ("vanilla", method))
    assert regularized < 0.6 * plain
    assert measured.loc[method, "test"]["f1"].mean() > measured.loc["vanilla", "test"]["f1"].mean() - 0.05
