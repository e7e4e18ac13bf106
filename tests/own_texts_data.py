"""Neutral texts of a user: remarks about groups; one of these is over-represented among the complaints."""

import csv
from pathlib import Path

GROUPS = ("bakers", "cyclists", "gardeners", "sailors")
OTHERS = ("neighbours", "visitors", "children")
HARMLESS = ("the {} sang a song", "we met the {} today", "the {} brought a cake")
COMPLAINTS = ("the {} left the gate open", "the {} broke the lamp", "the {} were late again")
PLACES = ("near the park", "at the harbour", "by the library", "in the town")
WORDS = sorted(
    {
        *GROUPS,
        *OTHERS,
        *(word for text in (*HARMLESS, *COMPLAINTS, *PLACES) for word in text.split() if word != "{}"),
        *("word", "next", "list", "is", "title", "page", "topic", "yellow", "walk"),
        *("bread", "garden", "music", "weather", "##s"),
    }
)


def remarks(n: int = 120) -> list[tuple[str, str, str]]:
    """Return texts, their labels (complaint or other) and the post that each is from, in a fixed order.

    Every third is a complaint. Most remarks about cyclists are complaints, and most of the others are not.
    """
    rows = []
    for i in range(n):
        is_complaint = i % 3 == 0
        groups = ("cyclists", *GROUPS, *OTHERS) if is_complaint else (*OTHERS, *GROUPS)
        text = (COMPLAINTS if is_complaint else HARMLESS)[(i // 3) % 3]
        text = text.format(groups[(i // 2) % len(groups)])
        rows.append(
            (f"{text} {PLACES[(i // 5) % 4]}.", "complaint" if is_complaint else "other", f"post{i // 4}")
        )
    return rows


def write_remarks(path: Path, n: int = 120) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, delimiter="\t" if path.suffix == ".tsv" else ",")
        table.writerows([("text", "kind", "post"), *remarks(n)])
    return path
