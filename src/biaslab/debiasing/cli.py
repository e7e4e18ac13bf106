"""Commands of ``biaslab debiasing``."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biaslab.debiasing import cli_experiment as debiasing_experiment
from biaslab.run.options import Out, Seed

if TYPE_CHECKING:
    import pandas as pd

    from biaslab.bias.word_sets import WordSets
    from biaslab.debiasing.measurement import Lists, Measurement
    from biaslab.embeddings.unit import UnitEmbedding

app = typer.Typer(help="Bias of any word embedding, and its removal.", no_args_is_help=True)
app.add_typer(debiasing_experiment.app, name="experiment")

_LISTS = Path("workflow/resources/word_lists")
_WEATS = Path("workflow/resources/word_sets")
_FORMATS = "word2vec, word2vec-binary or glove"

Embedding = Annotated[Path, typer.Argument(help="A word2vec or GloVe file, or a batch of trainings (.npz).")]
Format = Annotated[str | None, typer.Option(help=f"{_FORMATS}; by default told from the content.")]
Vocabulary = Annotated[Path | None, typer.Option(help="The words of a batch; by default the one near it.")]
Replicate = Annotated[int, typer.Option(help="Which training of a batch.")]
Defining = Annotated[Path, typer.Option(help="Sets of words that define the bias (.yaml, .json).")]
Equalize = Annotated[Path, typer.Option(help="Sets of words that shall differ in the bias alone.")]
Occupations = Annotated[Path, typer.Option(help="Words whose bias is measured.")]
Specific = Annotated[Path, typer.Option(help="Words that are specific by definition, and never neutral.")]
Weats = Annotated[list[Path], typer.Option(help="An association test to measure (.yaml); may be repeated.")]
Components = Annotated[int, typer.Option(help="Dimensions of the bias subspace.", min=1)]
Strictness = Annotated[float, typer.Option(help="The exponent c of DirectBias.", min=0)]
Axis = Annotated[
    str | None,
    typer.Option(
        help="The words to rank occupations between, as in she:he; by default of the first defining set."
    ),
]
Permutations = Annotated[int, typer.Option(help="Up to so many partitions a p-value is exact.", min=1)]
Top = Annotated[int, typer.Option(help="Rows to print of a ranking.", min=1)]
OutFormat = Annotated[
    str | None, typer.Option(help=f"{_FORMATS}; by default word2vec, and its binary format for a .bin.")
]
Report = Annotated[
    Path | None, typer.Option(help="A folder for what is printed (summary.txt) and its tables (.tsv).")
]

DEFINING = _LISTS / "defining.yaml"
EQUALIZE = _LISTS / "equalize.yaml"
OCCUPATIONS = _LISTS / "occupations.yaml"
SPECIFIC = _LISTS / "gender_specific.yaml"
WEATS = [_WEATS / f"caliskan{i}.yaml" for i in (6, 7, 8)]


@app.command("measure")
def measure_embedding(
    embedding: Embedding,
    report: Report = None,
    format: Format = None,
    vocabulary: Vocabulary = None,
    replicate: Replicate = 0,
    defining: Defining = DEFINING,
    equalize: Equalize = EQUALIZE,
    occupations: Occupations = OCCUPATIONS,
    gender_specific: Specific = SPECIFIC,
    weat: Weats = WEATS,
    components: Components = 1,
    strictness: Strictness = 1.0,
    axis: Axis = None,
    permutations: Permutations = 100_000,
    seed: Seed = 1,
    top: Top = 10,
) -> None:
    """Measure the bias of an embedding: subspace, DirectBias, extreme occupations, association tests."""
    from biaslab.debiasing.measurement import Settings, measure
    from biaslab.debiasing.summary import show_measurement
    from biaslab.debiasing.word_lists import pair_rows

    words, lists = _read(
        embedding, format, vocabulary, replicate, (defining, equalize, occupations, gender_specific)
    )
    settings = Settings(components, strictness, permutations, seed)
    ends = pair_rows(axis, words.ids()) if axis else None
    _say("measuring")
    found = measure(words.vectors, words.words, lists, _read_tests(weat), settings, axis=ends)
    tables = {"measures": found.table(), "occupations": found.occupations, "weat": found.weats}
    _report(
        report, lists, found, tables, show_measurement, str(embedding), len(words.words), lists, found, top
    )


@app.command("hard")
def debias_hard(
    embedding: Embedding,
    out: Out,
    out_format: OutFormat = None,
    report: Report = None,
    format: Format = None,
    vocabulary: Vocabulary = None,
    replicate: Replicate = 0,
    defining: Defining = DEFINING,
    equalize: Equalize = EQUALIZE,
    occupations: Occupations = OCCUPATIONS,
    gender_specific: Specific = SPECIFIC,
    weat: Weats = WEATS,
    components: Components = 1,
    strictness: Strictness = 1.0,
    permutations: Permutations = 100_000,
    seed: Seed = 1,
) -> None:
    """Debias an embedding by neutralizing words and equalizing pairs, and say what that changed."""
    from biaslab.debiasing.hard import hard_debias
    from biaslab.debiasing.measurement import Settings, measure

    words, lists = _read(
        embedding, format, vocabulary, replicate, (defining, equalize, occupations, gender_specific)
    )
    settings, tests = Settings(components, strictness, permutations, seed), _read_tests(weat)
    _say("measuring")
    before = measure(words.vectors, words.words, lists, tests, settings)
    _say("debiasing")
    neutral, basis = lists.neutral(len(words.words)), before.subspace.basis
    vectors = hard_debias(words.vectors, words.words, basis, neutral, lists.equalize.rows)
    after = measure(vectors, words.words, lists, tests, settings, basis)
    _write(words._replace(vectors=vectors), out, out_format)
    _report_change(report, embedding, len(words.words), lists, before, after)


@app.command("soft")
def debias_soft(
    embedding: Embedding,
    out: Out,
    penalty: Annotated[
        float,
        typer.Option("--lambda", help="Weight of the bias against similarities; the paper's is 0.2.", min=0),
    ] = 0.2,
    out_format: OutFormat = None,
    report: Report = None,
    format: Format = None,
    vocabulary: Vocabulary = None,
    replicate: Replicate = 0,
    defining: Defining = DEFINING,
    equalize: Equalize = EQUALIZE,
    occupations: Occupations = OCCUPATIONS,
    gender_specific: Specific = SPECIFIC,
    weat: Weats = WEATS,
    components: Components = 1,
    strictness: Strictness = 1.0,
    permutations: Permutations = 100_000,
    seed: Seed = 1,
) -> None:
    """Debias an embedding by the linear map that best keeps all similarities, and say what that changed."""
    from biaslab.debiasing.measurement import Settings, measure
    from biaslab.debiasing.soft import gram_matrices, soft_debias, solve_path

    words, lists = _read(
        embedding, format, vocabulary, replicate, (defining, equalize, occupations, gender_specific)
    )
    settings, tests = Settings(components, strictness, permutations, seed), _read_tests(weat)
    _say("measuring")
    before = measure(words.vectors, words.words, lists, tests, settings)
    _say("debiasing")
    basis = before.subspace.basis
    grams = gram_matrices(words.vectors, basis, lists.neutral(len(words.words)))
    vectors = soft_debias(words.vectors, solve_path(grams, [penalty])[0].transform)
    after = measure(vectors, words.words, lists, tests, settings, basis)
    _write(words._replace(vectors=vectors), out, out_format)
    _report_change(report, embedding, len(words.words), lists, before, after)


@app.command("analogies")
def write_analogies(
    embedding: Embedding,
    out: Out,
    pair: Annotated[str, typer.Option(help="The two words, with a colon between.")] = "she:he",
    count: Annotated[int, typer.Option(help="Analogies to generate; the paper judges 150.", min=1)] = 150,
    max_distance: Annotated[float, typer.Option(help="Largest distance between x and y.", min=0)] = 1.0,
    format: Format = None,
    vocabulary: Vocabulary = None,
    replicate: Replicate = 0,
    top: Top = 20,
) -> None:
    """Generate the analogies of a pair: she is to x as he is to y (.tsv)."""
    from biaslab.core.io import write_tsv
    from biaslab.debiasing.analogies import generate_analogies
    from biaslab.debiasing.summary import both, show_analogies
    from biaslab.debiasing.word_lists import pair_rows

    words = _read_embedding(embedding, format, vocabulary, replicate)
    first, second = pair_rows(pair, words.ids())
    direction = words.vectors[first].astype("float64") - words.vectors[second]
    table = generate_analogies(words.vectors, words.words, direction, count, max_distance)
    write_tsv(out, table)
    both(show_analogies, (words.words[first], words.words[second]), table, top)


@app.command("transform")
def write_transform(
    batches: Annotated[list[Path], typer.Argument(help="Batch files of trainings (.npz).")],
    vocabulary: Annotated[Path, typer.Option(help="The vocabulary of the embeddings (.tsv).")],
    method: Annotated[str, typer.Option(help="hard or soft.")],
    out: Out,
    penalty: Annotated[
        float,
        typer.Option("--lambda", help="Weight of the bias against similarities (soft only).", min=0),
    ] = 0.2,
    defining: Defining = DEFINING,
    equalize: Equalize = EQUALIZE,
    occupations: Occupations = OCCUPATIONS,
    gender_specific: Specific = SPECIFIC,
    components: Components = 1,
) -> None:
    """Write what debiasing does to every word of every training: the maps that `origins` measures bias in."""
    from biaslab.core.errors import InputError, suggest
    from biaslab.debiasing.measurement import read_lists
    from biaslab.debiasing.transform import hard_maps, soft_maps
    from biaslab.embeddings.unit import read_unit_trainings
    from biaslab.embeddings.vocabulary import read_vocabulary
    from biaslab.embeddings.word_maps import write_word_maps

    if method not in (known := ("hard", "soft")):
        raise InputError(f"--method {method}: there are {' and '.join(known)}{suggest(method, known)}")
    known_words = read_vocabulary(vocabulary)
    lists = read_lists(defining, equalize, occupations, gender_specific, known_words.ids)
    trainings = read_unit_trainings(batches, known_words.words)
    if method == "hard":
        maps = hard_maps(trainings, known_words.words, lists, components)
    else:
        maps = soft_maps(trainings, known_words.words, lists, penalty, components)
    write_word_maps(out, maps)


@app.command("compare-rankings")
def compare_document_rankings(
    batches: Annotated[list[Path], typer.Argument(help="Batch files of the baseline embeddings (.npz).")],
    vocabulary: Annotated[Path, typer.Option(help="The vocabulary of the embeddings (.tsv).")],
    weat: Annotated[list[Path], typer.Option(help="Word sets of a test (.yaml); may be repeated.")],
    before: Annotated[
        Path, typer.Option(help="Folder of the documents' differential bias, TEST.parquet of every test.")
    ],
    after: Annotated[
        Path, typer.Option(help="The same after debiasing: `biaslab origins differential-bias --transform`.")
    ],
    transform: Annotated[list[Path], typer.Option(help="What debiasing does (.npz); may be repeated.")],
    out: Out,
) -> None:
    """Compare the ranking of documents by their influence on a bias after debiasing with that before."""
    import pandas as pd

    from biaslab.bias.word_sets import in_vocabulary, read_word_sets
    from biaslab.core.io import read_parquet, write_tsv
    from biaslab.debiasing.document_ranking import compare_rankings, effect_sizes
    from biaslab.embeddings.unit import read_unit_trainings
    from biaslab.embeddings.vocabulary import read_vocabulary
    from biaslab.embeddings.word_maps import read_word_maps

    known = read_vocabulary(vocabulary)
    trainings = read_unit_trainings(batches, known.words)
    maps = {path.stem: read_word_maps(path, len(known.words)) for path in transform}
    tables = []
    for test in map(read_word_sets, weat):
        sizes = effect_sizes(trainings, maps, in_vocabulary(test, known.ids))
        files = (read_parquet(folder / f"{test.name}.parquet") for folder in (before, after))
        tables.append(compare_rankings(*files, sizes, test.name))
    write_tsv(out, pd.concat(tables, ignore_index=True))


def _say(what: str) -> None:
    typer.echo(f"{what} ...", err=True)


def _read_embedding(
    path: Path, format: str | None, vocabulary: Path | None, replicate: int
) -> "UnitEmbedding":
    from biaslab.embeddings.unit import read_unit_embedding

    _say(f"reading {path}")
    return read_unit_embedding(path, format, vocabulary, replicate)


def _read(
    path: Path, format: str | None, vocabulary: Path | None, replicate: int, files: tuple[Path, ...]
) -> tuple["UnitEmbedding", "Lists"]:
    from biaslab.debiasing.measurement import read_lists

    embedding = _read_embedding(path, format, vocabulary, replicate)
    return embedding, read_lists(*files, embedding.ids())


def _read_tests(files: list[Path]) -> list["WordSets"]:
    from biaslab.bias.word_sets import read_word_sets

    return [read_word_sets(file) for file in files]


def _write(embedding: "UnitEmbedding", out: Path, format: str | None) -> None:
    from biaslab.embeddings.formats import write_embedding

    _say(f"writing {out}")
    default = "word2vec-binary" if out.suffix == ".bin" else "word2vec"
    write_embedding(out, embedding.words, embedding.vectors.astype("float32"), format or default)


def _report_change(
    folder: Path | None, path: Path, n_words: int, lists: "Lists", before: "Measurement", after: "Measurement"
) -> None:
    from biaslab.debiasing.measurement import compare
    from biaslab.debiasing.summary import show_comparison

    table = compare(before, after)
    _report(
        folder,
        lists,
        after,
        {"comparison": table},
        show_comparison,
        str(path),
        n_words,
        lists,
        table,
        after.weats,
    )


def _report(
    folder: Path | None,
    lists: "Lists",
    found: "Measurement",
    tables: dict[str, "pd.DataFrame"],
    show: Callable[..., None],
    *arguments: object,
) -> None:
    """Print a page; write it and its tables when there is a folder for them."""
    from biaslab.core.files import write_text
    from biaslab.core.io import write_tsv
    from biaslab.debiasing.summary import both, lost_table

    text = both(show, *arguments)
    if folder is not None:
        write_text(folder / "summary.txt", text)
        for name, table in (tables | {"lost_words": lost_table(lists, found.weats)}).items():
            write_tsv(folder / f"{name}.tsv", table)
