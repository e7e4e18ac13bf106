"""The ranking of embeddings by bias: lines and sections of the answer."""

from collections.abc import Sequence

import pandas as pd

from biaslab.bias.measures import MEASURES
from biaslab.bias.word_sets import WordSets
from biaslab.core.answers import Section, dots, listed, with_ends
from biaslab.core.tables import text_columns
from biaslab.debiasing.embedding_ranks import N_DRAWS, Ranked

_DISTINGUISHED = 0.95
_AT_ONE = [measure.name for measure in MEASURES.values() if measure.unbiased == 1]


def ranking_lines(found: Ranked) -> list[str]:
    """Describe the ranks of embeddings, and the omitted tests."""
    lines = [_line(row, len(found.ranking), len(found.tests)) for row in found.ranking.to_dict("records")]
    return lines + [
        f"{name} is omitted from the ranking: {reason}." for name, reason in found.left_out.items()
    ]


def ranking_sections(found: Ranked) -> list[Section]:
    """Return the sections on the ranks of embeddings and the values of each test."""
    return [_ranking(found.ranking, found.tests), _values(found)] if found.tests else []


def _tests(n: int) -> str:
    return "one test" if n == 1 else f"{n} tests"


def _line(row: dict, n: int, n_tests: int) -> str:
    text = (
        f"Rank {row['place']}: {row['embedding']}, mean rank over {_tests(n_tests)} {row['mean_rank']:.2f}"
        f" of {n} ({row['mean_rank_low']:.2f} to {row['mean_rank_high']:.2f} with resampled words)"
    )
    if pd.isna(row["before_next"]):
        return f"{text}."
    judgement = "distinguished" if row["before_next"] >= _DISTINGUISHED else "not distinguished"
    share = f"less biased than the next embedding in {row['before_next']:.0%} of the draws"
    return f"{text}; {share}: {judgement} by these words."


def _ranking(ranking: pd.DataFrame, tests: Sequence[WordSets]) -> Section:
    templates = {
        "Place": "{place}",
        "Embedding": "{embedding}",
        "Mean rank": "{mean_rank:.2f} ({mean_rank_low:.2f} to {mean_rank_high:.2f})",
        "Less biased than the next": "{before_next:.0%}",
    }
    return Section(
        "The ranking",
        [
            f"By {_tests(len(tests))}: {'; '.join(f'{test.title} ({test.measure})' for test in tests)}.",
            "Every test ranks the embeddings by the distance of its measure from no bias; rank 1 is"
            " the nearest."
            " The mean rank averages over the tests. Equally biased embeddings would each have mean rank"
            f" {(len(ranking) + 1) / 2:g}, and would be less biased than the next in half of the draws.",
        ],
        dots(list(ranking["embedding"]), {"mean rank": with_ends(ranking, "mean_rank")}, "Mean rank"),
        listed(ranking, "{embedding} {mean_rank:.2f}"),
        text_columns(ranking, templates),
        f"Bars: the middle 95% of {N_DRAWS} draws of the words of every set, the same for all embeddings. The"
        " rank compares the embeddings by these tests and sets no limit for bias. All"
        " tests have the same weight, so words that two tests share count twice.",
    )


def _values(found: Ranked) -> Section:
    templates = {
        "Test": "{weat}",
        "Measure": "{measure}",
        "Embedding": "{embedding}",
        "Value": "{value:.3f} ({value_low:.3f} to {value_high:.3f})",
        "Rank": "{rank:g}",
    }
    return Section(
        "The tests",
        [f"Result of each test, in units of its measure: no bias is 0, or 1 for {' and '.join(_AT_ONE)}."],
        table=text_columns(found.values, templates),
        note="In brackets: the middle 95% with resampled words of the test. Every test uses"
        f" the words that all embeddings have{_lost(found)}.",
    )


def _lost(found: Ranked) -> str:
    lost = [f"{name} without {', '.join(words)}" for name, words in found.lost.items() if words]
    return f" ({'; '.join(lost)})" if lost else ""
