"""Commands of ``biaslab debiasing``."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from biaslab.core.settings import SEED
from biaslab.debiasing.settings import COMPARED, WORD_SETS, Penalty, Settings, Subspace, WordLists
from biaslab.run.commands.options import AnswerOut, Out, Seed, grouped, option

app = typer.Typer(help="Measure and remove the bias of word embeddings.", no_args_is_help=True)

_TESTS = list(WORD_SETS.values())
Method = Annotated[Literal[COMPARED], typer.Option(help="Debiasing method.")]


@app.command("audit")
@grouped
def audit_embeddings(
    embeddings: Annotated[
        list[Path],
        typer.Argument(
            help="Files in word2vec, fastText (.vec) or GloVe format, or batches of trainings (.npz)."
        ),
    ],
    *,
    lists: WordLists,
    how: Settings,
    weat: Annotated[
        list[str],
        typer.Option(
            "--weat", help="File with an association test to measure; repeat the option for several files."
        ),
    ] = _TESTS,
    method: Method = "hard",
    out: AnswerOut = Path("debiasing-audit"),
) -> None:
    """Measure the bias of embeddings before and after debiasing, and rank several embeddings."""
    from biaslab.answers import check_answer, write_answer
    from biaslab.bias.measures import PARAMETERS
    from biaslab.bias.word_sets import WEAT, read_word_sets
    from biaslab.core.errors import InputError
    from biaslab.debiasing import auditing
    from biaslab.debiasing.embedding_ranks import rank_embeddings, words_of_tests
    from biaslab.debiasing.experiment import read_experiment
    from biaslab.debiasing.report.audited import answer

    check_answer(out)
    if copy := next((file for file in embeddings if embeddings.count(file) > 1), None):
        raise InputError(f"{copy}: the embedding is repeated; give each embedding once")
    several = len(embeddings) > 1
    files, measures = _located(*vars(lists).values()), PARAMETERS if several else None
    tests = [read_word_sets(file, measures) for file in _located(*weat)]
    names = [test.name for test in tests]
    if copy := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"{copy}: two tests have this name; rename one test")
    of_words, audits, words = [test for test in tests if test.measure == WEAT], [], []
    for file in embeddings:
        typer.echo(f"Measuring {file} ...", err=True)
        experiment = read_experiment(file, files, how, any_case=True)
        audits.append(auditing.audit(file, experiment, of_words, method))
        words.append(words_of_tests(experiment.embedding, experiment.ids, tests))
    ranked = rank_embeddings(embeddings, words, tests, how.seed) if several else None
    typer.echo(write_answer(answer(auditing.compare(audits), method, ranked), out))


@app.command("apply")
@grouped
def apply_method(
    embedding: Annotated[
        Path, typer.Argument(help="File in word2vec or GloVe format, or a batch of trainings (.npz).")
    ],
    *,
    out: Out,
    method: Method = "hard",
    penalty: option(Penalty, "lambda_") = Penalty.lambda_,
    lists: WordLists,
    how: Subspace,
    seed: Seed = SEED,
    unit_length: Annotated[
        bool,
        typer.Option(
            "--unit-length", help="Write vectors of length one; by default, each keeps its original length."
        ),
    ] = False,
) -> None:
    """Debias an embedding by one method and write it (word2vec format; .bin: binary)."""
    from biaslab.debiasing.experiment import read_experiment
    from biaslab.debiasing.methods import debias
    from biaslab.debiasing.word_lists import describe_recased, describe_undirected
    from biaslab.embeddings.formats import write_embedding

    typer.echo(f"Reading {embedding} ...", err=True)
    settings = Settings(**vars(how), seed=seed)
    files = _located(*vars(lists).values())
    experiment = read_experiment(embedding, files, settings, penalty, any_case=True)
    typer.echo(f"Debiasing ({method}) ...", err=True)
    vectors = debias(method, experiment)
    if not unit_length:
        vectors *= experiment.embedding.lengths[:, None]
    ids = experiment.ids
    recased = [f"{embedding}: has {describe_recased(ids.recased)}"] if ids.recased else []
    notes = [*experiment.embedding.notes, *recased, *describe_undirected(embedding, ids)]
    format = "word2vec-binary" if out.suffix == ".bin" else "word2vec"
    kept = [row for row, word in enumerate(experiment.words) if " " not in word]
    words = [experiment.words[row] for row in kept]
    write_embedding(out, words, vectors[kept].astype("float32"), format)
    notes.append(f"{out}: {len(kept):,} words; biaslab debiasing audit {out} measures its remaining bias")
    if n_left := len(experiment.words) - len(kept):
        notes.append(f"{out}: words with blanks are omitted ({n_left}), because other tools cannot read them")
    for line in notes:
        typer.echo(line)


def _located(*files: str) -> list[Path]:
    """Return the files of options; use the repository's file if the working directory lacks it."""
    from biaslab.core.files import locate
    from biaslab.run.root import repository

    return [locate(file, repository()) for file in files]
