"""The commands of the debiasing area, on a small embedding with a bias that was put in."""

import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from gensim.models import KeyedVectors
from typer.testing import CliRunner

from biaslab.cli import app, main
from biaslab.core.io import read_tsv, write_npz
from biaslab.embeddings.formats import write_embedding
from biaslab.embeddings.unit import read_unit_embedding
from biaslab.embeddings.vocabulary import digest_words
from debiasing_data import JOBS

REPOSITORY = Path(__file__).parents[3]
PAIRS = [["she", "he"], ["her", "his"], ["woman", "man"], ["Mary", "John"]]
EQUALIZE = [["she", "he"], ["her", "his"], ["queen", "king"]]
OCCUPATIONS = ["nurse", "doctor", "pilot", "cook", "judge", "actress", "astronaut"]
SPECIFIC = ["she", "he", "actress", "mother"]
ABSENT = JOBS | {"name": "absent", "targets": {"care": ["carer", "nurse"], "law": ["judge", "pilot"]}}
WORDS = [
    "she",
    "he",
    "her",
    "his",
    "woman",
    "man",
    "queen",
    "king",
    "actress",
    *OCCUPATIONS[:5],
    "tree",
    "sea",
]
GENDER = [1, -1, 0.8, -1.1, 0.9, -0.8, 1, -1, 0.9, 0.5, -0.4, -0.3, 0.2, -0.1, 0.1, -0.05]


def vectors():
    X = np.random.default_rng(5).normal(scale=0.3, size=(len(WORDS), 6)).astype(np.float32)
    X[1:8:2, 1:] = X[0:8:2, 1:] + 0.05 * X[8:12, 1:]  # the words of a pair differ in little else
    X[:, 0] = GENDER
    return X


@pytest.fixture
def embedding(tmp_path):
    path = tmp_path / "vectors.txt"
    write_embedding(path, WORDS, vectors(), "word2vec")
    return path


@pytest.fixture
def options(tmp_path):
    """Write the word lists and tests; return the options that name them."""
    head = {"name": "mine", "title": "A list", "source": "a test"}
    lists = {
        "defining": {"sets": PAIRS},
        "equalize": {"sets": EQUALIZE},
        "occupations": {"words": OCCUPATIONS},
        "gender-specific": {"words": SPECIFIC},
    }
    files = {name: head | content for name, content in lists.items()} | {"weat": JOBS}
    arguments = []
    for name, content in files.items():
        path = tmp_path / f"{name}.yaml"
        path.write_text(yaml.safe_dump(content, sort_keys=False))
        arguments += [f"--{name}", path]
    return arguments


def call(*arguments):
    result = CliRunner().invoke(app, ["debiasing", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def refused(monkeypatch, capsys, *arguments):
    """Call the command as a user does; return its last line."""
    monkeypatch.setattr(sys, "argv", ["biaslab", "debiasing", *map(str, arguments)])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 2
    error = capsys.readouterr().err
    assert "Traceback" not in error
    assert [line.startswith("biaslab: ") for line in error.splitlines()].count(True) == 1
    return error.splitlines()[-1]


def values(path, column="value"):
    return read_tsv(path).set_index("measure")[column].to_dict()


def test_measure_writes_what_the_formulas_say(embedding, options, tmp_path):
    printed = call("measure", embedding, *options, "--strictness", 2, "--report", tmp_path / "report")
    X = vectors().astype(np.float64)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    row = {word: i for i, word in enumerate(WORDS)}
    C = sum(
        np.outer(X[row[w]] - (X[row[a]] + X[row[b]]) / 2, X[row[w]] - (X[row[a]] + X[row[b]]) / 2) / 2
        for a, b in PAIRS[:3]
        for w in (a, b)
    )
    eigenvalues, axes = np.linalg.eigh(C)
    neutral = [row[word] for word in OCCUPATIONS[:5]]
    measured = values(tmp_path / "report/measures.tsv")
    assert measured["direct_bias_neutral"] == pytest.approx(
        np.mean((X[neutral] @ axes[:, -1]) ** 2), rel=1e-5
    )
    everyone = [*neutral, row["actress"]]
    assert measured["direct_bias"] == pytest.approx(np.mean((X[everyone] @ axes[:, -1]) ** 2), rel=1e-5)
    assert measured["component_1_share"] == pytest.approx(eigenvalues[-1] / eigenvalues.sum(), rel=1e-5)
    gaps = [abs(X[n] @ (X[row[a]] - X[row[b]])) for n in neutral for a, b in EQUALIZE]
    assert measured["pair_bias"] == pytest.approx(np.mean(gaps), rel=1e-5)
    axis = X[row["she"]] - X[row["he"]]
    order = sorted(OCCUPATIONS[:5], key=lambda word: -X[row[word]] @ axis)
    assert read_tsv(tmp_path / "report/occupations.tsv")["word"].tolist() == order
    assert (tmp_path / "report/summary.txt").read_text().startswith(f"{embedding}\n{len(WORDS)} words;")
    assert "Extreme she" in printed
    printed = call("measure", embedding, *options, "--axis", "king:queen", "--report", tmp_path / "report")
    order = sorted(OCCUPATIONS[:5], key=lambda word: -X[row[word]] @ (X[row["king"]] - X[row["queen"]]))
    assert read_tsv(tmp_path / "report/occupations.tsv")["word"].tolist() == order
    assert "Extreme king" in printed


def test_words_in_another_case_give_the_same_numbers_and_are_named(embedding, options, tmp_path):
    expected = call("measure", embedding, *options, "--report", tmp_path / "lower")
    other = tmp_path / "other.txt"
    forms = {"nurse": "Nurse", "pilot": "PILOT", "she": "SHE"}
    write_embedding(other, [forms.get(word, word) for word in WORDS], vectors(), "word2vec")
    printed = call("measure", other, *options, "--report", tmp_path / "other")
    assert values(tmp_path / "other/measures.tsv") == values(tmp_path / "lower/measures.tsv")
    assert (
        "words found: 3 in another case of letters alone (she as SHE, nurse as Nurse, pilot as PILOT)"
        in " ".join(printed.split())
    )
    assert "another case" not in expected
    for verb in ("hard", "soft"):
        printed = call(verb, other, *options, "--out", tmp_path / f"{verb}.txt")
        assert "words found: 3 in another case" in printed
    out = tmp_path / "analogies.tsv"
    call("analogies", other, "--pair", "she:he", "--out", out, "--max-distance", 2)
    assert read_tsv(out).loc[0, ["x", "y"]].tolist() == ["SHE", "he"]


def test_a_refusal_names_the_case_in_which_the_embedding_has_words(monkeypatch, capsys, tmp_path, options):
    odd = tmp_path / "odd.txt"
    write_embedding(odd, [word[0] + word[1:].upper() for word in WORDS], vectors(), "word2vec")
    line = refused(monkeypatch, capsys, "measure", odd, *options)
    assert "the embedding has no set with 2 words or more (lost: she, he, her" in line
    assert "; the embedding writes 'she' as 'sHE'); give sets of words that it has" in line


def test_what_is_not_read_as_the_file_has_it_is_printed(embedding, options, tmp_path):
    lines = embedding.read_text().splitlines()
    row = lines[3].partition(" ")[2]
    more = [f"{len(lines) + 3} 6", *lines[1:], f". . . {row}", f"at name@example.org {row}", lines[2]]
    public = tmp_path / "public.txt"
    public.write_text("\n".join(more) + "\n")
    printed = "".join(call("hard", public, *options, "--out", tmp_path / "hard.txt").split())  # lines wrap
    for note in (
        f"line 1 announces {len(WORDS) + 4} words, the file has {len(WORDS) + 3}; all are read",
        "1 row repeats a word of an earlier row ('he'); the first row of a word counts",
        "the word of 2 rows holds blanks ('. . .', 'at name@example.org')",
        "hard.txt: lacks the words that hold blanks (2): other tools cannot read them",
    ):
        assert "".join(note.split()) in printed
    assert KeyedVectors.load_word2vec_format(str(tmp_path / "hard.txt")).index_to_key == WORDS


@pytest.mark.parametrize("decimals", [None, 4])
def test_what_hard_debiasing_wrote_has_no_effect_size(embedding, options, tmp_path, decimals):
    everyone = {"she": "he", "her": "his", "woman": "man", "queen": "king"}
    pairs = yaml.safe_dump(
        {"name": "m", "title": "t", "source": "s", "sets": [[a, b] for a, b in everyone.items()]}
    )
    (tmp_path / "equalize.yaml").write_text(pairs)
    test = JOBS | {"attributes": {"female": list(everyone), "male": list(everyone.values())}}
    (tmp_path / "weat.yaml").write_text(yaml.safe_dump(test, sort_keys=False))
    call("hard", embedding, *options, "--out", tmp_path / "hard.txt", "--report", tmp_path / "report")
    assert np.isnan(values(tmp_path / "report/comparison.tsv", "after")["jobs_effect_size"])
    keyed = KeyedVectors.load_word2vec_format(str(tmp_path / "hard.txt"))
    rows = keyed.vectors if decimals is None else keyed.vectors.round(decimals)
    for scale in (1, 3, 0.1) if decimals is None else (1,):
        write_embedding(tmp_path / "again.txt", WORDS, (scale * rows).astype(np.float32), "word2vec")
        printed = call("measure", tmp_path / "again.txt", *options, "--report", tmp_path / "again")
        assert "jobs: no effect size, because all targets are equally near but for rounding" in printed
        assert np.isnan(values(tmp_path / "again/measures.tsv")["jobs_effect_size"])
        assert values(tmp_path / "again/measures.tsv")["jobs_p_value"] == 1


def test_measure_says_which_words_are_lost_and_which_test_is_not_measured(embedding, options, tmp_path):
    (tmp_path / "absent.yaml").write_text(yaml.safe_dump(ABSENT, sort_keys=False))
    more = ["--weat", tmp_path / "absent.yaml", "--report", tmp_path / "report"]
    printed = " ".join(call("measure", embedding, *options, *more).split())
    lost = read_tsv(tmp_path / "report/lost_words.tsv")
    assert lost.to_records(index=False).tolist() == [
        ("defining", "Mary"),
        ("defining", "John"),
        ("occupations", "astronaut"),
        ("specific", "mother"),
        ("jobs", "lawyer"),
        ("absent", "carer"),
    ]
    assert "3 defining sets (1 dropped)" in printed
    assert "defining 2 Mary, John" in printed
    assert "not measured: absent: set 'care' keeps 1 of 2 words" in printed
    tests = read_tsv(tmp_path / "report/weat.tsv").set_index("weat")
    assert tests.loc["jobs", "permutations"] == 6  # 2 of the 4 targets that are left
    sixths = 6 * tests.loc["jobs", "p_value"]
    assert sixths == pytest.approx(round(sixths), abs=1e-8)
    assert np.isnan(tests.loc["absent", "effect_size"])


def test_random_p_values_depend_on_the_seed_alone(embedding, options, tmp_path):
    found = []
    for number, seed in enumerate((1, 1, 2)):
        report = tmp_path / f"report{number}"
        call("measure", embedding, *options, "--permutations", 5, "--seed", seed, "--report", report)
        found.append((report / "weat.tsv").read_text())
    assert found[0] == found[1]
    assert read_tsv(tmp_path / "report2/weat.tsv")["permutations"].tolist() == [5]


@pytest.mark.parametrize(("name", "binary"), [("hard.txt", False), ("hard.bin", True)])
def test_hard_debiasing_is_read_by_gensim(embedding, options, tmp_path, name, binary):
    call("hard", embedding, *options, "--out", tmp_path / name, "--report", tmp_path / "report")
    keyed = KeyedVectors.load_word2vec_format(str(tmp_path / name), binary=binary)
    assert keyed.index_to_key == WORDS
    original = read_unit_embedding(embedding)
    lengths = np.linalg.norm(keyed.vectors, axis=1)
    np.testing.assert_allclose(lengths, original.lengths, rtol=1e-6)
    np.testing.assert_allclose(lengths, np.linalg.norm(vectors(), axis=1), rtol=1e-6)
    assert lengths.std() > 0.01
    for first, second in EQUALIZE:
        for word in ("nurse", "tree"):
            assert keyed.similarity(word, first) == pytest.approx(keyed.similarity(word, second), abs=1e-6)
    np.testing.assert_allclose(keyed["actress"], vectors()[WORDS.index("actress")], rtol=1e-6)
    before, after = (values(tmp_path / "report/comparison.tsv", column) for column in ("before", "after"))
    assert before["direct_bias_neutral"] > 0.1
    assert after["direct_bias_neutral"] < 1e-6
    assert after["pair_bias"] < 1e-6
    assert after["direct_bias"] > 0.05  # actress is specific, and stays so


def test_vectors_of_length_one_are_written_where_asked_for(embedding, options, tmp_path):
    call("soft", embedding, *options, "--out", tmp_path / "soft.txt", "--unit-length")
    np.testing.assert_allclose(read_unit_embedding(tmp_path / "soft.txt").lengths, 1, rtol=1e-6)


def test_words_of_the_defining_sets_are_never_neutral(embedding, options, tmp_path):
    call("hard", embedding, *options, "--out", tmp_path / "hard.txt")
    original, debiased = read_unit_embedding(embedding), read_unit_embedding(tmp_path / "hard.txt")
    row = WORDS.index("woman")  # defines gender, but is in neither of the other lists
    np.testing.assert_allclose(debiased.vectors[row], original.vectors[row], atol=1e-6)


def test_soft_debiasing_goes_with_lambda(embedding, options, tmp_path):
    biases = []
    for penalty in (0, 1, 1000):
        folder = tmp_path / f"report{penalty}"
        out = tmp_path / f"soft{penalty}.txt"
        call("soft", embedding, *options, "--lambda", penalty, "--out", out, "--report", folder)
        biases.append(values(folder / "comparison.tsv", "after")["direct_bias_neutral"])
    assert biases[0] > biases[1] > biases[2]
    kept = read_unit_embedding(tmp_path / "soft0.txt")
    np.testing.assert_allclose(kept.vectors, read_unit_embedding(embedding).vectors, atol=1e-6)
    keyed = KeyedVectors.load_word2vec_format(str(tmp_path / "soft1.txt"))
    assert keyed.index_to_key == WORDS


def test_analogies_of_a_pair(embedding, tmp_path):
    out = tmp_path / "analogies.tsv"
    printed = call("analogies", embedding, "--out", out, "--max-distance", 2, "--count", 5, "--top", 3)
    table = read_tsv(out)
    assert table.columns.tolist() == ["x", "y", "score", "distance"]
    assert table.loc[0, ["x", "y"]].tolist() == ["she", "he"]
    assert table.loc[0, "score"] == pytest.approx(1)
    assert len(table) == 5
    assert table["x"].is_unique
    assert "5 analogies: she is to x as he is to y; the first 3" in printed
    call("analogies", embedding, "--out", out, "--max-distance", 2, "--pair", "man:woman")
    assert read_tsv(out).loc[0, ["x", "y"]].tolist() == ["man", "woman"]


def test_batches_of_this_project_are_measured(embedding, options, tmp_path):
    folder = tmp_path / "setup/embeddings/baseline"
    folder.mkdir(parents=True)
    rows = "".join(f"{word}\t1\n" for word in WORDS)
    (tmp_path / "setup/vocabulary.tsv").write_text("word\tcount\n" + rows)
    write_npz(folder / "batch-0.npz", replicates=np.array([3]), W=vectors()[None], words=digest_words(WORDS))
    call("measure", folder / "batch-0.npz", *options, "--replicate", 3, "--report", tmp_path / "batch")
    call("measure", embedding, *options, "--report", tmp_path / "text")
    assert (tmp_path / "batch/measures.tsv").read_text() == (tmp_path / "text/measures.tsv").read_text()


def test_the_defaults_are_our_lists_and_tests(tmp_path, monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    words = ["she", "he", "her", "his", "queen", "king", "nurse", "architect", "philosopher", "tree"]
    path = tmp_path / "vectors.txt"
    write_embedding(path, words, np.random.default_rng(1).normal(size=(10, 5)).astype(np.float32), "glove")
    call("hard", path, "--out", tmp_path / "hard.bin", "--report", tmp_path / "report")
    lost = read_tsv(tmp_path / "report/lost_words.tsv")
    assert set(lost["list"]) == {
        *("defining", "equalize", "occupations", "specific", "caliskan6", "caliskan7", "caliskan8")
    }
    assert values(tmp_path / "report/comparison.tsv", "after")["direct_bias"] < 1e-6


def binary(*rows, header=None):
    body = b"".join(word + b" " + np.array(row, dtype="<f4").tobytes() for word, row in rows)
    return (header or b"%d 2\n" % len(rows)) + body


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "no word vectors in it"),
        (b"she 1 2\nhe nan 2\n", "the vector of 'he' is not finite in 32 bits (word 2"),
        (b"she 1 2\nhe inf 2\n", "the vector of 'he' is not finite"),
        (b"she 0 0\nhe 0 0\n", "all vectors are zero; give a file of trained vectors"),
        (b"0 2\nshe 1 2\n", "line 1: not the header"),
        (b"she 1 2\nhe 2\n", "line 2: expected 2 numbers after the word, found 1"),
        (b"she 1 2\nh\xff 2 1\n", "line 2: not UTF-8"),
        (binary((b"she", [1, 2]), (b"he", [2, 1]))[:-3], "the file ends within row 2, of 2 dimensions"),
        (b"she 1 2\nhe 2 1\n", "mine: the embedding has no set with 2 words or more (lost: her, his, queen"),
    ],
)
@pytest.mark.parametrize("verb", ["measure", "hard"])
def test_bad_embeddings_end_with_one_line(monkeypatch, capsys, tmp_path, options, content, problem, verb):
    path = tmp_path / "bad.bin"
    path.write_bytes(content)
    (tmp_path / "equalize.yaml").write_text(
        (tmp_path / "equalize.yaml").read_text().replace("- - she\n  - he\n", "")
    )
    out = ["--out", tmp_path / "out/new.bin"] if verb == "hard" else ["--report", tmp_path / "out"]
    line = refused(monkeypatch, capsys, verb, path, *options, *out)
    assert problem in line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        (
            "defining",
            {"sets": [["mother", "father"], ["she", "dad"]]},
            "no set with 2 words or more (lost: mother",
        ),
        ("defining", {"sets": [["she"]]}, "set 1 has 1 word(s) (she)"),
        ("defining", {"sets": [["she", "he"]], "words": []}, "words: unknown key"),
        ("equalize", {"sets": [["she", "he"], ["she", "man"]]}, "'she' is there 2 times"),
        ("occupations", {"words": ["nurse"]}, "a list of 1 word(s)"),
        ("occupations", {"words": ["carer", "miner"]}, "has 0 of its 2 words (lost: carer, miner)"),
        ("occupations", {"words": ["actress", "queen"]}, "all occupations are also in the list of specific"),
        ("gender-specific", {"words": ["she", 7]}, "words[1]: 7 is not a text"),
    ],
)
def test_bad_lists_end_with_one_line(
    monkeypatch, capsys, tmp_path, embedding, options, name, content, problem
):
    head = {"name": "mine", "title": "A list", "source": "a test"}
    (tmp_path / f"{name}.yaml").write_text(yaml.safe_dump(head | content))
    assert problem in refused(monkeypatch, capsys, "measure", embedding, *options)


def test_other_wrong_arguments_end_with_one_line(monkeypatch, capsys, tmp_path, embedding, options):
    def line(*arguments):
        return refused(monkeypatch, capsys, *arguments)

    assert "no such file of word vectors" in line("measure", tmp_path / "absent.bin", *options)
    assert "differ in only 3 dimensions" in line("measure", embedding, *options, "--components", 4)
    assert "unknown format 'glov'; did you mean 'glove'" in line("measure", embedding, "--format", "glov")
    assert "lacks 'father' of the pair father:king" in line(
        "measure", embedding, *options, "--axis", "father:king"
    )
    out = ["--out", tmp_path / "out.tsv"]
    for pair in ("she", "she:he:it", "she:she", ":he"):
        assert f"'{pair}' is not a pair of words" in line("analogies", embedding, "--pair", pair, *out)
    assert "lacks 'quean' of the pair quean:he; did you mean 'queen'?" in line(
        "analogies", embedding, "--pair", "quean:he", *out
    )
    assert "positive distance" in line("analogies", embedding, "--max-distance", 0, *out)
    assert not (tmp_path / "out.tsv").exists()
