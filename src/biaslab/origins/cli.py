"""Commands of ``biaslab origins``."""

import time
from pathlib import Path
from typing import Annotated

import typer

from biaslab.core.errors import InputError
from biaslab.embeddings.settings import FORMATS_SAID, Choice, GloveParameters, format_of
from biaslab.origins.attribution.registry import UNROLLED
from biaslab.origins.settings import Setup
from biaslab.run.commands.options import CorpusSource, Out, Seed, Threads, grouped
from biaslab.run.commands.outputs import To

RunConfig = Annotated[
    Path | None, typer.Option(help="Configuration of the run; by default config.json in the results.")
]


_GLOVE = Setup().glove
_MODEL = GloveParameters(dimension=_GLOVE.dimension, epochs=_GLOVE.epochs)


app = typer.Typer(help="Origins of bias in word embeddings (Brunet et al. 2019).", no_args_is_help=True)


@app.command("attribute")
@grouped
def attribute(
    source: CorpusSource,
    test: Annotated[
        list[Path], typer.Option(help="Word sets of a test (.yaml), for any measure; repeatable.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for all results."), To.FOLDER],
    choice: Choice,
    model: GloveParameters = _MODEL,
    format: Annotated[
        str | None, typer.Option(help=f"{FORMATS_SAID}; by default from the file name.")
    ] = None,
    window: Annotated[int, typer.Option(help="Context words on each side.")] = _GLOVE.window,
    baselines: Annotated[int, typer.Option(help="Embeddings trained on the entire corpus.", min=2)] = 5,
    documents: Annotated[
        int, typer.Option(help="Documents at each end of the ranking with a page.", min=1)
    ] = 10,
    verify: Annotated[
        bool, typer.Option("--verify", help="Retrain without the documents that raise the bias most.")
    ] = False,
    seed: Seed = 1,
    threads: Threads = 1,
) -> None:
    """Find the documents of a corpus that raise and lower biases most; write pages with coloured words."""
    from biaslab.origins.pages.attributed import attribute_corpus

    start = time.perf_counter()
    answer = attribute_corpus(
        source, format or format_of(source), test, choice, model, window, baselines, documents, seed, out,
        verify, threads,
        say=lambda line: typer.echo(line, err=True),
    )  # fmt: skip
    typer.echo(answer)
    typer.echo(f"The command ran for {time.perf_counter() - start:.0f} s.", err=True)


@app.command("score")
def score(
    scores: Annotated[
        str,
        typer.Argument(
            help="Scores of all documents (.tsv with the columns document, the id, and score), or"
            f" {UNROLLED} to estimate the scores from the run's baselines."
        ),
    ],
    setup: Annotated[str, typer.Option(help="Setup of the run.")],
    weat: Annotated[str, typer.Option(help="Test of the scores.")],
    out: Out,
    results: Annotated[Path, typer.Option(help="Folder of all results.")] = Path("results"),
    planted: Annotated[
        float | None,
        typer.Option(
            help="Dose of the planted corpus of the scores; measures the recall of planted documents."
        ),
    ] = None,
    flip: Annotated[
        int,
        typer.Option(
            help="Embeddings trained without the first documents, for each number of documents of the"
            " brittleness check; 0 for none.",
            min=0,
        ),
    ] = 0,
    config: RunConfig = None,
    seed: Seed = 1,
    threads: Threads = 1,
) -> None:
    """Score your own attribution by the checks of a run, next to the run's attributions."""
    from biaslab.origins.checks.foreign import (
        Retraining,
        estimate,
        reversed_sign,
        write_recalled,
        write_scored,
    )
    from biaslab.origins.pages.explanation import chosen_tests, glove_of, open_setup, seed_of

    folder, file = results / "origins" / setup, config or results / "config.json"
    is_named, dose = scores == UNROLLED, None if planted is None else f"{planted:g}"
    if dose and flip:
        raise InputError(
            "--flip removes documents and --planted adds documents; give only one of the options"
        )
    score_input, retraining = Path(scores), None
    if flip or is_named:
        opened = open_setup(setup, results, file)
        chosen_tests(opened, weat)
        words, glove = opened.file(weat), glove_of(setup, file)
        retraining = Retraining(words, glove, flip, threads) if flip else None
        if is_named:
            corpus = folder / "planted" / dose if dose else folder
            score_input = {scores: estimate(scores, corpus, words, glove, seed_of(file), threads)}
    if dose:
        table = write_recalled(score_input, folder, dose, weat, seed, out)
    else:
        table = write_scored(score_input, folder, weat, seed, out, retraining)
    typer.echo(table.to_string(index=False, float_format="%.3f", na_rep=""))
    if reversed_sign(table):
        typer.echo(
            "The sign of the scores seems reversed: their linear datamodeling score is clearly below 0. Give"
            " documents that raise the bias positive scores.",
            err=True,
        )


@app.command("explain")
def explain(
    document: Annotated[str, typer.Option(help="Id of the document in documents.parquet.")],
    setup: Annotated[str | None, typer.Option(help="Setup of the run.")] = None,
    results: Annotated[
        Path, typer.Option(help="Folder of all results; without a setup, the output of origins attribute.")
    ] = Path("results"),
    config: RunConfig = None,
    html: Annotated[Path | None, typer.Option(help="Page with the coloured text."), To.FILE] = None,
    weat: Annotated[str | None, typer.Option(help="Test; by default all tests of the setup.")] = None,
) -> None:
    """Print the contribution of one document to the bias, by estimator, word and co-occurrence."""
    from biaslab.origins.pages.explanation import (
        Corpus,
        chosen_tests,
        open_attributed,
        open_setup,
        read_gradients,
    )
    from biaslab.origins.pages.explanation import explain as explain_document
    from biaslab.origins.pages.highlight import print_document, write_page

    if setup:
        opened = open_setup(setup, results, config or results / "config.json")
    else:
        opened = open_attributed(results)
    tests, corpus = chosen_tests(opened, weat), Corpus(opened)
    match = corpus.find(document)
    parts = [explain_document(corpus, match, test, read_gradients(opened, test)) for test in tests]
    print_document(match, opened.name, parts)
    if html:
        write_page(html, opened.name, match, parts)
