"""The figure of hierarchical explanations (Figs. 3 to 5)."""

import json

import numpy as np
import pytest

from biaslab.core.errors import InputError
from biaslab.core.io import read_tsv
from biaslab.hate_speech.hierarchy import agglomerate, collapse
from biaslab.hate_speech.report.hierarchies import draw_hierarchies
from biaslab.run.area import FIGURE, SUFFIXES, Unit
from biaslab.run.reports import Results

TEXTS = (
    "the baker on the corner says that gardeners never pay for their bread",
    "cyclists are welcome here - and $5 is _all_ it costs",
)
SENTENCES = [text.split() for text in TEXTS]


def explanations():
    rows = []
    for number, words in enumerate(SENTENCES):
        for method, factor in (("vanilla", 1.0), ("soc-0.1", 0.3)):
            rng = np.random.default_rng(number)
            weights, own = rng.normal(size=len(words)), rng.normal(size=(30, 30))

            def phi(spans, weights=weights, own=own, factor=factor):
                return factor * np.array(
                    [weights[start:end].sum() + own[start, end] * (end - start > 1) for start, end in spans]
                )

            levels = agglomerate(phi, len(words)).levels
            rows.append({"sentence": words, "method": method, "score": 20 * factor, "levels": levels})
    return rows


@pytest.fixture
def make(tmp_path):
    """Return a function that opens a corpus with these explanations."""

    def make(rows, name="stormfront", unmask=True, **files):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        content = rows if isinstance(rows, str) else json.dumps(rows)
        (folder / "hierarchies.json").write_text(content)
        return Results(Unit(name, (), {"unmask": unmask}, files), folder)

    return make


def test_the_figure_shows_every_phrase_of_the_results(make, tmp_path):
    rows = explanations()
    stem = tmp_path / "figure"
    draw_hierarchies([make(rows)], stem)
    data = read_tsv(f"{stem}.tsv")
    assert data.columns.tolist() == [
        "corpus",
        "sentence",
        "method",
        "level",
        "start",
        "end",
        "words",
        "phi",
    ]
    for i, row in enumerate(rows):
        part = data[(data["sentence"] == 1 + i // 2) & (data["method"] == row["method"])]
        tree = collapse(row["levels"])
        expected = [(level, *phrase) for level, phrases in enumerate(tree) for phrase in phrases]
        expected.append((len(tree), 0, len(row["sentence"]), row["score"]))
        found = part[["level", "start", "end", "phi"]].to_numpy()
        np.testing.assert_allclose(found, np.array(expected, float), rtol=1e-9)
        assert part["words"].iloc[-1] == " ".join(row["sentence"])
    assert all((tmp_path / f"figure{suffix}").stat().st_size for suffix in SUFFIXES[FIGURE])


def test_equal_results_make_equal_files(make, tmp_path):
    unit = make(explanations())
    for name in ("first", "second"):
        draw_hierarchies([unit], tmp_path / name)
    for suffix in SUFFIXES[FIGURE]:
        assert (tmp_path / f"first{suffix}").read_bytes() == (tmp_path / f"second{suffix}").read_bytes()


def test_sentences_of_two_corpora_are_told_apart(make, tmp_path):
    units = [make(explanations(), name) for name in ("ghc", "stormfront")]
    draw_hierarchies(units, tmp_path / "figure")
    data = read_tsv(tmp_path / "figure.tsv")
    assert data.groupby("corpus")["sentence"].unique().map(list).to_dict() == {
        "ghc": [1, 2],
        "stormfront": [1, 2],
    }


@pytest.mark.filterwarnings("error")
def test_a_long_sentence_is_still_drawn(make, tmp_path):
    words = ["gardener"] * 60
    levels = [[[i, i + 1, 0.0] for i in range(60)]]
    row = {"sentence": words, "method": "oc-0.1", "score": 0.0, "levels": levels}
    draw_hierarchies([make([row])], tmp_path / "figure")
    assert len(read_tsv(tmp_path / "figure.tsv")) == 61


def test_listed_words_are_masked_unless_asked_for(make, tmp_path, monkeypatch):
    class Masked:
        @classmethod
        def load(cls, path):
            assert path.name == "digests.txt"
            return cls()

        def __call__(self, word):
            return "b***r" if word == "baker" else word

    monkeypatch.setattr("biaslab.hate_speech.report.hierarchies.Masker", Masked)
    stem = tmp_path / "figure"
    draw_hierarchies([make(explanations(), unmask=False, masked_words="digests.txt")], stem)
    assert not read_tsv(f"{stem}.tsv")["words"].str.contains("baker").any()
    assert read_tsv(f"{stem}.tsv")["words"].str.contains("b***r", regex=False).any()
    draw_hierarchies([make(explanations())], stem)
    assert read_tsv(f"{stem}.tsv")["words"].str.contains("baker").any()


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "no sentence is explained"),
        ("{", "not readable as JSON"),
        ([{"sentence": ["a"]}], "no list of explanations"),
        ({"sentence": ["a"]}, "no list of explanations"),
    ],
)
def test_wrong_results_are_refused(make, tmp_path, rows, message):
    with pytest.raises(InputError, match=message) as error:
        draw_hierarchies([make(rows)], tmp_path / "figure")
    assert "\n" not in str(error.value)


def test_missing_results_are_refused(make, tmp_path):
    unit = make([])
    (unit.folder / "hierarchies.json").unlink()
    with pytest.raises(InputError, match="no such file; run the step"):
        draw_hierarchies([unit], tmp_path / "figure")
