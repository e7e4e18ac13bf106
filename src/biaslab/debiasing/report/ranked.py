"""The answer to which of some embeddings is least biased: lines, page and numbers."""

import pandas as pd

from biaslab.bias.measures.registry import MEASURES
from biaslab.core.answers import Answer, Section, dots, listed, with_ends
from biaslab.core.tables import text_columns
from biaslab.debiasing.embedding_ranks import N_DRAWS, Ranked

_TOLD_APART = 0.95
_AT_ONE = [measure.name for measure in MEASURES.values() if measure.unbiased == 1]


def answer(found: Ranked) -> Answer:
    """Say how embeddings rank."""
    lost = {name: f"without {', '.join(words)}" for name, words in found.lost.items() if words}
    return Answer(
        command="biaslab debiasing rank",
        question=f"Which of {len(found.files)} embeddings is least biased, by {_tests(len(found.tests))}?",
        data={test.name: f"{test.title} ({test.measure})" for test in found.tests}
        | {f"{name}: words": text for name, text in lost.items()},
        files=found.files,
        lines=[*(_line(row, len(found.files)) for row in found.ranking.to_dict("records")), *found.notes],
        sections=[_ranking(found.ranking), _values(found.values)],
        limits=[
            "A rank says which embedding has more of what these tests ask about, not how much is too much.",
            "The tests count alike, and tests of like words count twice what they share.",
            "Vectors are scaled to length one, and every test is measured with the words that all have.",
        ],
        numbers={
            "places": found.ranking,
            "values": found.values,
            "lost": dict(found.lost),
            "notes": found.notes,
        },
    )


def _tests(n: int) -> str:
    return "one test" if n == 1 else f"{n} tests"


def _line(row: dict, n: int) -> str:
    text = (
        f"{row['place']}. {row['embedding']}: mean rank {row['mean_rank']:.2f} of {n}"
        f" ({row['mean_rank_low']:.2f} to {row['mean_rank_high']:.2f} with the words drawn again)"
    )
    if pd.isna(row["before_next"]):
        return f"{text}."
    told = "told apart" if row["before_next"] >= _TOLD_APART else "not told apart by these words"
    return f"{text}; before the next in {row['before_next']:.0%} of the draws: {told}."


def _ranking(ranking: pd.DataFrame) -> Section:
    templates = {
        "Place": "{place}",
        "Embedding": "{embedding}",
        "Mean rank": "{mean_rank:.2f} ({mean_rank_low:.2f} to {mean_rank_high:.2f})",
        "Before the next": "{before_next:.0%}",
    }
    return Section(
        "The ranking",
        [
            "Every test ranks the embeddings by the distance of what it measures from no bias, 1 the nearest;"
            " ranks are averaged over the tests. Embeddings that are equally biased would each be at"
            f" {(len(ranking) + 1) / 2:g}, and before the next in half of the draws."
        ],
        dots(list(ranking["embedding"]), {"mean rank": with_ends(ranking, "mean_rank")}, "Mean rank"),
        listed(ranking, "{embedding} {mean_rank:.2f}"),
        text_columns(ranking, templates),
        f"Bars: the middle 95% of {N_DRAWS} draws of the words of every set, the same for all embeddings.",
    )


def _values(values: pd.DataFrame) -> Section:
    templates = {
        "Test": "{weat}",
        "Measure": "{measure}",
        "Embedding": "{embedding}",
        "Value": "{value:.3f} ({value_low:.3f} to {value_high:.3f})",
        "Rank": "{rank:g}",
    }
    return Section(
        "The tests",
        [f"What each test measures, in units of its measure: no bias is 0, of {' and '.join(_AT_ONE)} 1."],
        table=text_columns(values, templates),
        note="In brackets: the middle 95% with the words of the test drawn again.",
    )
