"""The made-up example corpus, prepared with a tiny encoder, and plans of runs of the area."""

from pathlib import Path

import pytest
import yaml

from biaslab.run.data.fetching import ABSENT, THERE, Status
from biaslab.run.plan import plan as planning
from text_data import texts_of, tiny_classifier, tiny_vocabulary

ROOT = Path(__file__).parents[1]
RESOURCES = ROOT / "workflow/resources/hate_speech"
EXAMPLE = RESOURCES / "example.csv"
NEWS_FILE = RESOURCES / "example_news.jsonl"
IDENTIFIERS = RESOURCES / "identifiers_example.yaml"
TERMS = ("actors", "musicians", "sailors", "tourists")
WORDS = (RESOURCES / "example-encoder/vocab.txt").read_text(encoding="utf-8").split()


def plan_of(monkeypatch: pytest.MonkeyPatch, section: str = "", absent: dict[str, str] | None = None):
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
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["functionality,test_case,label_gold,target_ident"]
    for place in range(n):
        term = TERMS[place % len(TERMS)]
        lines += [
            f"complaint,The {term} left a terrible mess.,hateful,{term}",
            f"thanks,We thanked the {term} for the cake.,non-hateful,{term}",
            "object,The lamp near the station was broken.,non-hateful,",
        ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def example_encoder(folder: Path, seed: int = 1) -> Path:
    return tiny_classifier(folder, WORDS, seed=seed)


def example_folder(path: Path, encoder: Path | None = None, probes=(), others=None, limits=()):
    """Prepare the example with some of its further test sets; the encoder is its vocabulary alone.

    `limits` are those of the training, validation, test and further texts.
    """
    from biaslab.hate_speech.corpus import Folder, Limits, Source, prepare

    if encoder is None:
        encoder = path / "encoder"
        tiny_vocabulary(encoder, WORDS)
    folder = Folder(path / "example", encoder, IDENTIFIERS)
    sizes = Limits(*limits, *[None] * (4 - len(limits)))
    files = {"news": NEWS_FILE, "hatecheck": write_hatecheck(path / "cases.csv")}
    chosen = {name: files[name] for name in probes}
    prepare(folder, Source("table", EXAMPLE), chosen, others or {}, sizes, seed=3)
    return folder
