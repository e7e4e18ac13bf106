"""Commands of ``biaslab debiasing``."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from biaslab.core.settings import SEED
from biaslab.debiasing.cli_options import (
    TESTS,
    Embedding,
    Methods,
    Quality,
    Weats,
    Weight,
    located,
    named_files,
)
from biaslab.debiasing.settings import (
    Comparison,
    Penalty,
    Section,
    Settings,
    Sizes,
    Subspace,
    WordLists,
)
from biaslab.run.options import AnswerOut, Out, Seed, grouped, option
from biaslab.run.outputs import To

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from biaslab.bias.word_sets import WordSets
    from biaslab.debiasing.measurement import Lists
    from biaslab.embeddings.unit import UnitEmbedding

app = typer.Typer(help="Bias of any word embedding, and its removal.", no_args_is_help=True)

_FORMATS = "word2vec, word2vec-binary or glove"

Report = Annotated[
    Path | None,
    typer.Option(help="A folder for what is printed (summary.txt) and its tables (.tsv)."),
    To.FOLDER,
]
Top = Annotated[int, typer.Option(help="Rows to print of a ranking.", min=1)]


@dataclass(frozen=True)
class Source:
    """An embedding to read."""

    embedding: Embedding
    format: Annotated[str | None, typer.Option(help=f"{_FORMATS}; by default told from the content.")] = None
    vocabulary: Annotated[
        Path | None, typer.Option(help="The words of a batch; by default the one near it.")
    ] = None
    replicate: Annotated[int, typer.Option(help="Which training of a batch.")] = 0


@dataclass(frozen=True)
class Output:
    """Where a debiased embedding goes, and what debiasing changed."""

    out: Out
    report: Report = None
    unit_length: Annotated[
        bool,
        typer.Option(
            "--unit-length",
            help="Write vectors of length one; by default each is as long as that of its word was.",
        ),
    ] = False


@app.command("audit")
@grouped
def audit_embeddings(
    embeddings: Annotated[
        list[Path],
        typer.Argument(help="word2vec, fastText (.vec) or GloVe files, or batches of trainings (.npz)."),
    ],
    *,
    lists: WordLists,
    how: Settings,
    weat: Weats = TESTS,
    method: Annotated[str, typer.Option(help="What to debias by: hard, soft, double_hard or inlp.")] = "hard",
    out: AnswerOut = Path("debiasing-audit"),
) -> None:
    """Answer how biased embeddings are, and what is left after debiasing: lines and a page."""
    from biaslab.core.answers import check_answer, write_answer
    from biaslab.core.errors import InputError
    from biaslab.debiasing import auditing
    from biaslab.debiasing.methods.registry import find_method
    from biaslab.debiasing.report.audited import answer

    check_answer(out)
    find_method(method)
    if twice := next((file for file in embeddings if embeddings.count(file) > 1), None):
        raise InputError(f"{twice}: is there twice; give each embedding once")
    tests, files = _read_tests(weat), located(*vars(lists).values())
    found = []
    for file in embeddings:
        _say(f"Measuring {file}")
        found.append(auditing.audit(file, files, tests, how, method))
    typer.echo(write_answer(answer(auditing.compare(found), method), out))


@app.command("rank")
def rank_many(
    embeddings: Annotated[
        list[Path], typer.Argument(help="word2vec or GloVe files, or batches of trainings (.npz).")
    ],
    weat: Weats = TESTS,
    seed: Seed = SEED,
    out: AnswerOut = Path("debiasing-rank"),
) -> None:
    """Rank embeddings by their bias in many tests, with intervals: lines, a page, and one table (.tsv)."""
    from biaslab.core.answers import check_answer, write_answer
    from biaslab.core.io import write_tsv
    from biaslab.debiasing.embedding_ranks import rank_embeddings, wide_table
    from biaslab.debiasing.report.ranked import answer

    check_answer(out)
    found = rank_embeddings(embeddings, _read_tests(weat, every_measure=True), seed)
    table = Path(f"{out}.tsv")
    write_tsv(table, wide_table(found))
    typer.echo(f"{write_answer(answer(found), out)}; the table: {table}")


@app.command("measure")
@grouped
def measure_embedding(
    *,
    report: Report = None,
    source: Source,
    lists: WordLists,
    how: Settings,
    weat: Weats = TESTS,
    axis: Annotated[
        str | None,
        typer.Option(
            help="The words to rank occupations between, as in she:he; by default of the first defining set."
        ),
    ] = None,
    top: Top = 10,
) -> None:
    """Measure the bias of an embedding: subspace, DirectBias, extreme occupations, association tests."""
    from biaslab.debiasing.measurement import lost_table, measure
    from biaslab.debiasing.summary import both, show_measurement
    from biaslab.debiasing.word_lists import pair_rows

    words, known, tests, notes = _read(source, lists, weat)
    ends = pair_rows(axis, words.ids()) if axis else None
    _say("Measuring")
    found = measure(words.vectors, words.words, known, tests, how, axis=ends, rounding=words.rounding)
    page = both(show_measurement, str(source.embedding), len(words.words), known, notes, found, top)
    lost = lost_table(known, found.weats)
    tables = {"measures": found.table(), "occupations": found.occupations, "weat": found.weats}
    _report(report, page, tables | {"lost_words": lost})


@app.command("hard")
@grouped
def debias_hard(to: Output, source: Source, lists: WordLists, how: Settings, weat: Weats = TESTS) -> None:
    """Debias an embedding by neutralizing words and equalizing pairs, and say what that changed."""
    from biaslab.debiasing.hard import hard_debias

    def debias(words: "UnitEmbedding", known: "Lists", basis: "np.ndarray") -> "np.ndarray":
        neutral = known.neutral(len(words.words))
        return hard_debias(words.vectors, words.words, basis, neutral, known.equalize.rows)

    _debias(debias, to, source, lists, how, weat)


@app.command("soft")
@grouped
def debias_soft(
    *,
    to: Output,
    penalty: Weight = Penalty.lambda_,
    source: Source,
    lists: WordLists,
    how: Settings,
    weat: Weats = TESTS,
) -> None:
    """Debias an embedding by the linear map that best keeps all similarities, and say what that changed."""
    from biaslab.debiasing.soft import gram_matrices, soft_debias, solve_path

    def debias(words: "UnitEmbedding", known: "Lists", basis: "np.ndarray") -> "np.ndarray":
        grams = gram_matrices(words.vectors, basis, known.neutral(len(words.words)))
        return soft_debias(words.vectors, solve_path(grams, [penalty])[0].transform)

    _debias(debias, to, source, lists, how, weat)


@app.command("analogies")
@grouped
def write_analogies(
    *,
    out: Out,
    pair: Annotated[str, typer.Option(help="The two words, with a colon between.")] = "she:he",
    count: option(Section, "analogies", "--count") = Section.analogies,
    max_distance: Annotated[float, typer.Option(help="Largest distance between x and y.", min=0)] = 1.0,
    once: Annotated[
        Literal["first", "side"],
        typer.Option(help="A word is used once as x (first), or as x and as y (side)."),
    ] = "first",
    source: Source,
    top: Top = 20,
) -> None:
    """Generate the analogies of a pair: she is to x as he is to y (.tsv)."""
    from biaslab.core.io import write_tsv
    from biaslab.debiasing.analogies import generate_analogies
    from biaslab.debiasing.summary import both, show_analogies
    from biaslab.debiasing.word_lists import pair_rows

    words = _read_embedding(source)
    for note in words.notes:
        typer.echo(note, err=True)
    first, second = pair_rows(pair, words.ids())
    direction = words.vectors[first].astype("float64") - words.vectors[second]
    table = generate_analogies(words.vectors, words.words, direction, count, max_distance, once)
    write_tsv(out, table)
    both(show_analogies, (words.words[first], words.words[second]), table, top)


@app.command("compare")
@grouped
def compare_methods(
    embedding: Embedding,
    *,
    method: Methods = Comparison.methods,
    penalty: Weight = Penalty.lambda_,
    lists: WordLists,
    sizes: Sizes,
    how: Subspace,
    weat: Weats = TESTS,
    seed: Seed = SEED,
    quality: Quality,
    results: Annotated[
        Path | None, typer.Option(help="A folder for the tables methods.tsv and professions.tsv."), To.FOLDER
    ] = None,
) -> None:
    """Compare methods of debiasing: what each removes, what of the bias remains, and what it costs."""
    from biaslab.debiasing.comparison import write_comparison
    from biaslab.debiasing.summary import both, show_methods

    experiment, methods = write_comparison(
        embedding,
        located(*vars(lists).values()),
        Settings(**vars(how), seed=seed),
        penalty,
        method,
        sizes,
        named_files(quality.pairs, "--pairs"),
        named_files(quality.questions, "--questions"),
        [results / "methods.tsv", results / "professions.tsv"] if results else [],
        located(*weat),
        located(quality.sembias) if quality.sembias else [],
        any_case=True,
    )
    notes = _notes(experiment.embedding, experiment.ids.recased)
    both(show_methods, str(embedding), len(experiment.words), experiment.lists, notes, methods)


def _say(what: str) -> None:
    typer.echo(f"{what} ...", err=True)


def _read_embedding(source: Source) -> "UnitEmbedding":
    from biaslab.embeddings.unit import read_unit_embedding

    _say(f"Reading {source.embedding}")
    return read_unit_embedding(source.embedding, source.format, source.vocabulary, source.replicate)


def _read(
    source: Source, lists: WordLists, weat: list[str]
) -> "tuple[UnitEmbedding, Lists, list[WordSets], list[str]]":
    """Read an embedding, and find the words of lists and tests in it; return notes on both, too."""
    from biaslab.debiasing.measurement import read_lists
    from biaslab.debiasing.word_lists import match_case

    embedding = _read_embedding(source)
    ids = embedding.ids()
    known = read_lists(*located(*vars(lists).values()), ids)
    tests = [match_case(test, ids) for test in _read_tests(weat)]
    return embedding, known, tests, _notes(embedding, ids.recased)


def _notes(embedding: "UnitEmbedding", recased: dict[str, str]) -> list[str]:
    """Return what was not read as the file has it, and words that were found in another case."""
    from biaslab.debiasing.word_lists import describe_recased

    return [*embedding.notes, *([f"words found: {describe_recased(recased)}"] if recased else [])]


def _read_tests(files: list[str], every_measure: bool = False) -> "list[WordSets]":
    from biaslab.bias.measures.registry import PARAMETERS
    from biaslab.bias.word_sets import read_word_sets

    return [read_word_sets(file, PARAMETERS if every_measure else None) for file in located(*files)]


def _debias(
    debias: "Callable[[UnitEmbedding, Lists, np.ndarray], np.ndarray]",
    to: Output,
    source: Source,
    lists: WordLists,
    how: Settings,
    weat: list[str],
) -> None:
    """Measure, debias by a function of embedding, lists and subspace, measure along it, and write both."""
    from biaslab.debiasing.measurement import compare, lost_table, measure
    from biaslab.debiasing.summary import both, show_comparison

    words, known, tests, notes = _read(source, lists, weat)
    _say("Measuring")
    before = measure(words.vectors, words.words, known, tests, how, rounding=words.rounding)
    _say("Debiasing")
    basis = before.subspace.basis
    vectors = debias(words, known, basis)
    after = measure(vectors, words.words, known, tests, how, basis)
    notes += _write(words.words, vectors if to.unit_length else vectors * words.lengths[:, None], to.out)
    table, lost = compare(before, after), lost_table(known, after.weats)
    page = both(show_comparison, str(source.embedding), len(words.words), known, notes, table, after.weats)
    _report(to.report, page, {"comparison": table, "lost_words": lost})


def _write(words: list[str], vectors: "np.ndarray", out: Path) -> list[str]:
    """Write an embedding for other tools, and return what is left out of it."""
    from biaslab.embeddings.formats import write_embedding

    _say(f"Writing {out}")
    format = "word2vec-binary" if out.suffix == ".bin" else "word2vec"
    kept = [row for row, word in enumerate(words) if " " not in word]
    write_embedding(out, [words[row] for row in kept], vectors[kept].astype("float32"), format)
    n_left = len(words) - len(kept)
    return (
        [f"{out}: lacks the words that hold blanks ({n_left}): other tools cannot read them"]
        if n_left
        else []
    )


def _report(folder: Path | None, page: str, tables: "dict[str, pd.DataFrame]") -> None:
    """Write what was printed, and its tables, when there is a folder for them."""
    from biaslab.core.files import write_text
    from biaslab.core.io import write_tsv

    if folder is not None:
        write_text(folder / "summary.txt", page)
        for name, table in tables.items():
            write_tsv(folder / f"{name}.tsv", table)
