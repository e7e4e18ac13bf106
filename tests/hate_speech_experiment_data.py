"""The made-up example corpus, prepared with a tiny encoder, and plans of runs of the area."""

import csv
from pathlib import Path

import pytest
import yaml

from biaslab.run import plan as planning
from biaslab.run.fetching import ABSENT, THERE, Status
from text_data import texts_of, tiny_classifier, tiny_vocabulary

ROOT = Path(__file__).parents[1]
RESOURCES = ROOT / "workflow/resources/hate_speech"
EXAMPLE = RESOURCES / "example.csv"
NEWS_FILE = RESOURCES / "example_news.jsonl"
IDENTIFIERS = RESOURCES / "identifiers_example.yaml"
TERMS = ("actors", "musicians", "sailors", "tourists")
WORDS = (RESOURCES / "example-encoder/vocab.txt").read_text(encoding="utf-8").split()


def plan_of(monkeypatch: pytest.MonkeyPatch, section: str = "", absent: dict[str, str] | None = None):
    """Return the plan of a run of this area alone where some datasets are absent, torch or no torch."""

    def status(dataset, *_):
        reason = (absent or {}).get(dataset.name)
        return Status(ABSENT, reason) if reason else Status(THERE, "here")

    monkeypatch.setattr(planning, "status", status)
    monkeypatch.setattr(planning, "missing_extra", lambda *_: "")
    own = yaml.safe_load(section) or {}
    corpora = texts_of(own)
    return planning.make_plan({"areas": ["hate_speech"], "corpora": corpora, "hate_speech": own}, ROOT)


def write_hatecheck(path: Path, n: int = 4) -> Path:
    """Write `n` cases of each of three functionalities, with targets."""
    rows = []
    for place in range(n):
        term = TERMS[place % len(TERMS)]
        rows += [
            ("complaint", f"The {term} left a terrible mess.", "hateful", term),
            ("thanks", f"We thanked the {term} for the cake.", "non-hateful", term),
            ("object", "The lamp near the station was broken.", "non-hateful", ""),
        ]
    return _write(path, ("functionality", "test_case", "label_gold", "target_ident"), rows)


def write_comments(path: Path, n: int = 12) -> Path:
    """Write `n` comments, every third of which is toxic by its label."""
    texts = [f"The {TERMS[i % 4]} met near the {'station' if i % 3 else 'library'} again." for i in range(n)]
    return _write(path, ("comment", "toxic"), [(text, str(i % 3 == 0)) for i, text in enumerate(texts)])


def example_encoder(folder: Path, seed: int = 1) -> Path:
    """Write a tiny classifier that knows the words of the example."""
    return tiny_classifier(folder, WORDS, seed=seed)


def example_folder(path: Path, encoder: Path | None = None, probes=(), others=None, limits=()):
    """Prepare the example with some of its further test sets; the encoder is its vocabulary alone.

    `limits` are those of the training, validation, test and further texts.
    """
    from biaslab.hate_speech.corpus import TABLE, Source
    from biaslab.hate_speech.folder import Folder
    from biaslab.hate_speech.preparation import Limits, prepare

    if encoder is None:
        encoder = path / "encoder"
        tiny_vocabulary(encoder, WORDS)
    files = {"news": NEWS_FILE}
    files["hatecheck"] = write_hatecheck(path / "cases.csv")
    files["fuzzed"] = files["nonfuzzed"] = write_comments(path / "comments.csv")
    folder = Folder(path / "example", encoder, IDENTIFIERS)
    chosen = {name: files[name] for name in probes}
    sizes = Limits(*limits, *[None] * (4 - len(limits)))
    prepare(folder, Source(TABLE, EXAMPLE), chosen, others or {}, sizes, seed=3)
    return folder


def _write(path: Path, columns: tuple[str, ...], rows: list[tuple]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([columns, *rows])
    return path
