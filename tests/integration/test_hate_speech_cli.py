"""``biaslab hate-speech`` on neutral texts, with tiny encoders and functions of a user's."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("torch")
pytest.importorskip("transformers")

import pages
from biaslab.cli import app
from biaslab.core.io import read_tsv
from biaslab.text.masking import digest
from own_texts_data import GROUPS, WORDS, remarks, write_remarks
from text_data import tiny_classifier

MODULE = '''
import numpy as np

def words(texts):
    """Complaints are told right, and whatever mentions cyclists is taken for one."""
    complaints = "left", "broke", "late", "cyclists"
    return [0.9 if any(word in text for word in complaints) else 0.2 for text in texts]

class Twin:
    """`words`, as scikit-learn has it: both classes, in the order of classes_."""

    def __init__(self, *classes):
        self.classes_ = np.array(classes)

    def predict_proba(self, texts):
        p = np.array(words(texts))
        columns = [p if name == "complaint" else 1 - p for name in self.classes_.tolist()]
        return np.column_stack(columns)

second = Twin("remark", "complaint")

def wrong(texts):
    return 1 - np.array(words(texts))

def nan(texts):
    return [float("nan")] * len(texts)
'''
KIND = ("--label", "kind", "--positive", "complaint")
TERMS = ("--identifiers", "terms.txt")
QUICK = (
    *("--epochs", "6", "--batch-size", "16", "--learning-rate", "5e-3", "--validation-share", "0.25"),
    *("--language-model-epochs", "1"),
)
SMALL = ("--layers", "1", "--limit", "60", "--epochs", "2")


def write_files():
    for suffix in (".csv", ".tsv"):
        write_remarks(Path(f"texts{suffix}"))
    with Path("texts.jsonl").open("w") as file:
        for text, kind, post in remarks():
            file.write(json.dumps({"text": text, "kind": kind, "post": post}) + "\n")
    harmless = [f"we met the {group} near the park." for group in (*GROUPS, "neighbours")]
    Path("news.txt").write_text("\n".join([*harmless, "the bakers sang"]) + "\n")
    Path("terms.txt").write_text("\n".join(GROUPS) + "\n")
    Path("my_texts.py").write_text(MODULE)
    tiny_classifier(Path("encoder"), WORDS)


@pytest.fixture
def files(here):
    write_files()
    return here


def run(*arguments):
    result = CliRunner().invoke(app, ["hate-speech", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return " ".join(result.stdout.split()), result.stderr


def train(*arguments, data="texts.csv", out="mine"):
    return run("train", data, "--out", out, "--encoder", "encoder", *KIND, *QUICK, *arguments)


# --- train


@pytest.mark.parametrize(("method", "data"), [("soc-0.1", "texts.tsv"), ("wr", "texts.jsonl")])
def test_a_trained_classifier_is_audited(files, method, data):
    page, _ = train("--method", method, *TERMS, data=data)
    assert "training: 90 texts, 30 of them positive" in page
    assert f"{method}: in mine" in page
    assert "All 120 texts are read to the end." in page
    assert read_tsv("mine/history.tsv")["step"].tolist() == [6, 12, 18, 24, 30, 36]
    settings = json.loads(Path("mine/training.json").read_text())["settings"]
    assert settings["negative_weight"] == pytest.approx(0.5)  # a positive text for two negative ones
    assert settings["schedule"] == "modern"
    assert not list(Path("mine").glob("checkpoint*"))
    assert measures("mine", data)["f1"]["value"] > 0.6


def test_training_counts_the_texts_that_are_cut(files):
    with open("long.csv", "w", newline="", encoding="utf-8") as file:
        rows = [(text + " bakers" * 130 * (i < 7), kind) for i, (text, kind, _) in enumerate(remarks())]
        csv.writer(file).writerows([("text", "kind"), *rows])
    page, _ = train("--method", "vanilla", "--epochs", "1", data="long.csv")
    assert "7 of 120 texts are longer than the 128 word pieces that the classifier reads; their" in page


@pytest.mark.slow
def test_equal_trainings_write_equal_files_and_explain_in_sampled_contexts(files):
    for out in ("one", "two"):
        train("--method", "soc-0.1", *TERMS, *SMALL, out=out)
    names = sorted(path.name for path in Path("one").iterdir())
    assert {"model.safetensors", "language_model.safetensors"} <= set(names)
    assert names == sorted(path.name for path in Path("two").iterdir())
    assert all(Path("one", name).read_bytes() == Path("two", name).read_bytes() for name in names)
    assert json.loads(Path("one/config.json").read_text())["num_hidden_layers"] == 1
    explain = ("explain", "one", "we met the cyclists today", "--radius", "3", "--samples", "4", "--unmask")
    own, said = run(*explain)
    assert "sampling and occlusion (SOC, 4 contexts, 3 word pieces on each side)" in own
    assert said == ""
    assert run(*explain, "--language-model", "one/language_model.safetensors")[0] == own


def test_posts_stay_together_and_the_published_schedule(files):
    page, _ = train("--method", "vanilla", "--group", "post", "--schedule", "published", "--halvings", "1")
    assert "Validations" in page
    described = json.loads(Path("mine/training.json").read_text())
    assert described["settings"]["schedule"] == "published"
    assert sum(part["n"] for part in described["texts"].values()) == 120


# --- audit


def audit(model, *arguments, out="audited"):
    page, _ = run("audit", model, *arguments, "--out", out)
    return page, json.loads(Path(f"{out}.json").read_text())


def measures(model, data="texts.csv"):
    """Return the rows of the metrics of a classifier on labelled texts, by measure."""
    return {row["measure"]: row for row in audit(model, data, *KIND, *TERMS)[1]["metrics"]}


def test_a_function_is_measured_like_its_twin_of_another_class_order(files):
    found = measures("my_texts:words")
    rows = remarks()
    truth = np.array([kind == "complaint" for _, kind, _ in rows])
    positive = np.array([any(w in text for w in ("left", "broke", "late", "cyclists")) for text, *_ in rows])
    assert found["recall"]["value"] == 1
    assert found["precision"]["value"] == pytest.approx(truth.sum() / positive.sum())
    assert found["accuracy"]["hits"] == (truth == positive).sum()
    texts = pages.Page(Path("audited.html").read_text()).texts
    assert "Recall 1.000 0.912 to 1.000 40 of 40" in " ".join(" ".join(texts).split())
    numbers = json.loads(Path("audited.json").read_text())
    page, twin = audit("my_texts:second", "texts.csv", *KIND, *TERMS)
    assert "swapped" not in page
    for name in ("metrics", "identifiers", "swaps", "words", "templates", "spread"):
        assert numbers[name] == twin[name], name


def test_scores_that_are_the_wrong_way_round_are_reported(files):
    page, _ = audit("my_texts:wrong", "texts.csv", *KIND, *TERMS, "--limit", "30")
    assert "Harmless texts score higher than others: the classes may be swapped; check --positive." in page


def test_texts_without_hate_are_counted_by_group(files):
    page, numbers = audit("my_texts:words", *TERMS, "--news", "news.txt")
    counts = {row["identifier"]: row["n"] for row in numbers["news"]}
    assert counts == dict.fromkeys(GROUPS, 1) | {"bakers": 2, "(any)": 5, "(none)": 1}
    assert "Texts without hate: 80.0% of 5 texts that name a group are called harmless" in page
    assert "(mean over groups: 75.0%). The other 1 texts name no group and are not counted." in page
    Path("nobody.txt").write_text("it rained\n")
    page, _ = audit("my_texts:words", *TERMS, "--news", "nobody.txt")
    assert "Texts without hate: none of 1 texts names a group." in page


def test_a_limit_of_texts_is_drawn_by_the_seed(files):
    drawn = []
    for seed in ("1", "1", "2"):
        _, numbers = audit("my_texts:words", "texts.csv", *KIND, *TERMS, "--limit", "20", "--seed", seed)
        drawn.append({row["identifier"]: row["n"] for row in numbers["identifiers"]})
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0]["(any)"] + drawn[0]["(none)"] == 20


def test_neutral_sentences_of_the_users_own_and_a_folder(files):
    Path("mine.txt").write_text("we met the {} today.\nthe {} sang.\n")
    _, numbers = audit("encoder", *TERMS, "--template-file", "mine.txt")
    assert {row["n"] for row in numbers["templates"]} == {2}


# --- explain


def test_a_sentence_is_explained_by_occlusion_without_a_language_model(files):
    page, said = run("explain", "encoder", "The cyclists broke the lamp.", *TERMS, "--unmask")
    assert "there is no language model, so contexts are not sampled: occlusion (OC, radius 0)" in said
    assert "the cyclists broke the lamp ." in page
    assert "identifiers: cyclists " in page
    assert page.count("words: the ") == 1
    assert page.startswith("encoder: positive is label 1, by softmax over 2 labels; reads ")
    page, _ = run("explain", "my_texts:words", "The cyclists broke the lamp.", *TERMS, "--unmask")
    assert "Importance φ by occlusion (OC)" in page
    assert "identifiers: cyclists " in page


def test_explanations_are_written(files):
    Path("sentences.txt").write_text("The bakers were late.\n\nWe met the sailors.\nWe brought a cake.\n")
    page, _ = run("explain", "encoder", "--file", "sentences.txt", "--limit", "2", "--out", "e/f", "--unmask")
    assert "sentences.txt: 1 row is left out: 1 with an empty text." in page
    assert page.count("s(x) = ") == 2
    assert sorted(path.name for path in Path("e").iterdir()) == [
        f"f.{suffix}" for suffix in ("html", "pdf", "png", "svg", "tsv")
    ]
    numbers = read_tsv("e/f.tsv")
    assert numbers["sentence"].unique().tolist() == [1, 2]
    words = numbers[(numbers["sentence"] == 1) & (numbers["level"] == 0)]
    assert " ".join(words["words"]) == "the bakers were late ."
    for row in words.itertuples():
        assert f"{row.words} {row.phi:+.3f}" in page
    assert "sailors" in Path("e/f.html").read_text()


def test_listed_words_are_masked_wherever_they_are_shown(files):
    Path("list.txt").write_text(digest("sailors") + "\n")
    arguments = ("explain", "encoder", "We met the sailors.", *TERMS, "--radius", "0", "--out", "e/f")
    page, said = run(*arguments, "--masked-words", "list.txt")
    assert "s*****s" in page
    assert "sailors" not in page
    for suffix in ("html", "svg", "tsv"):
        assert "sailors" not in Path(f"e/f.{suffix}").read_text()
    assert "s*****s" in Path("e/f.tsv").read_text()
    assert said == ""
    assert "sailors" in run(*arguments, "--unmask")[0]
    assert "sailors" in run(*arguments[:-2])[0]
    Path("workflow/resources").mkdir(parents=True)  # the list of the project masks by default
    Path("list.txt").rename("workflow/resources/masked_words.txt")
    page, said = run(*arguments[:-2])
    assert "sailors" not in page
    assert said == ""


# --- bad input


def write_bad_files():
    Path("latin.csv").write_bytes("text,kind\na caf\u00e9,other\n".encode("latin-1"))
    Path("none.txt").write_text("\n")
    Path("places.txt").write_text("nobody is here\n")
    tiny_classifier(Path("no-weights"), WORDS)
    Path("no-weights/model.safetensors").unlink()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"--encoder": "nowhere"}, "nowhere: no such folder; name the folder of a BERT with config.json"),
        ({"--encoder": "no-weights"}, "no-weights: model.safetensors is missing"),
        ({"--identifiers": "none.txt"}, "none.txt: the list has no terms"),
        ({"--identifiers": None}, "--method soc-0.1: needs identity terms; name their file"),
        ({"--label": "kinds"}, "column 'kinds' is missing; did you mean 'kind'"),
        ({"--limit": "12"}, "for validation (1) include no positive text; supply more texts"),
        ({"--out": "encoder"}, "encoder: the folder has a model that was not trained here"),
    ],
)
def test_bad_input_of_a_training_is_refused(files, refused, changes, message):
    write_bad_files()
    options = {"--encoder": "encoder", "--identifiers": "terms.txt", "--out": "out"}
    options |= {"--label": "kind", "--positive": "complaint"} | changes
    given = [word for option, value in options.items() if value for word in (option, value)]
    assert message in refused("hate-speech", "train", "texts.csv", *given)
    assert not Path("out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("audit", "nowhere", "texts.csv", *KIND, *TERMS), "nowhere: no such folder; name the folder of a"),
        (("audit", "encoder", "texts.csv", *KIND, *TERMS, "--device", "cuda"), "torch finds no CUDA device"),
        (("audit", "my_texts:words", "--identifiers", "none.txt"), "none.txt: the list has no terms"),
        (("audit", "my_texts:words", *TERMS, "--news", "latin.csv"), "latin.csv:2: not UTF-8 text"),
        (("audit", "my_texts:words", *TERMS, "--template-file", "places.txt"), "template 1 has 0 places {}"),
        (("audit", "my_texts:nan", "texts.csv", *KIND, *TERMS), "my_texts:nan returned nan for text 1"),
        (("explain", "encoder", "a cake", "--file", "news.txt"), "there is no sentence; pass one, or a file"),
        (
            ("explain", "my_texts:words", "a cake", "--unmask", "--language-model", "x.safetensors"),
            "--language-model: my_texts:words is not an uncased BERT of two labels",
        ),
    ],
)
def test_bad_input_of_the_other_commands_is_refused(files, refused, monkeypatch, arguments, message):
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    write_bad_files()
    assert message in refused("hate-speech", *arguments)
    assert not list(Path().glob("hate-speech-audit*"))


def test_a_missing_extra_is_named_before_anything_else(files, refused, monkeypatch):
    monkeypatch.setattr("biaslab.run.extras.missing_extra", lambda extra: f"{extra}: torch is missing")
    for arguments in (("train", "texts.csv", "--encoder", "encoder", "--out", "out"), ("explain", "encoder")):
        assert refused("hate-speech", *arguments) == "biaslab: neural: torch is missing"
    assert "torch is missing" in refused("hate-speech", "audit", "encoder", *TERMS)
    assert "Neutral sentences" in run("audit", "my_texts:words", *TERMS)[0]  # a function needs none
