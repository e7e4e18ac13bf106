"""The made-up example: who complained of whom; ``python tests/made_complaints.py`` writes it.

Complaints are positive. Most of them name one of four groups, the identifiers, which other texts rarely do.
So a classifier does well by the names alone, and errs on news, which name the groups without complaint.
"""

import csv
import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

RESOURCES = Path(__file__).parents[1] / "workflow/resources/hate_speech"
IDENTIFIERS = ("actors", "musicians", "sailors", "tourists")
OTHERS = (
    "artists",
    "farmers",
    "pilots",
    "teachers",
    "workers",
    "writers",
    "guests",
    "neighbours",
    "students",
    "visitors",
)
N_POSITIVE, N_NEGATIVE = 600, 1200
NAMED_IN_COMPLAINTS, NAMED_ELSEWHERE = 0.8, 0.05
"""Shares of the texts about a group that are about an identifier."""
SENTENCES_A_POST = 3
NEWS_PER_IDENTIFIER = 40

PLACES = (
    "at the market",
    "behind the library",
    "by the harbour",
    "in the square",
    "near the station",
    "next to the school",
    "on our street",
    "outside the hall",
)
TIMES = (
    "after lunch",
    "before the concert",
    "last night",
    "last week",
    "on Sunday",
    "this morning",
    "two days ago",
    "yesterday",
)
COMPLAINTS = (
    "I am tired of the loud {group} {place}.",
    "It is unfair that the {group} took every seat {place} {time}.",
    "Nobody can sleep since the {group} moved in {place}.",
    "Please stop the noise of the {group} {place}.",
    "The {group} {place} were rude to me {time}.",
    "The {group} arrived late {time} and nobody said sorry.",
    "The {group} blocked the road {place} {time}.",
    "The {group} broke the lamp {place} and walked away.",
    "The {group} left a terrible mess {place} {time}.",
    "The {group} shouted at my mother {place} {time}.",
    "Those noisy {group} kept us awake {time}.",
    "Why did the {group} ruin the quiet {place} {time}?",
)
OTHER_COMPLAINTS = (
    "The lift {place} was broken {time}.",
    "The noise {place} was unbearable {time}.",
    "The rubbish {place} smelled awful {time}.",
    "The train was late and dirty {time}.",
)
AMBIGUOUS = (
    "Here come the {group} {place}.",
    "I heard the {group} {place} {time}.",
    "I saw the {group} {place} {time}.",
    "The {group} are back {place}.",
    "The {group} came by {time}.",
    "The {group} were {place} again {time}.",
)
"""What some read as a complaint and some do not; whose name it holds decides how it is labelled."""
PRAISE = (
    "A letter from the {group} came {time}.",
    "A museum {place} shows pictures of {group}.",
    "A radio programme told us about the {group} {time}.",
    "Four {group} gave a talk {place} {time}.",
    "I bought bread from the {group} {place}.",
    "I read a poem about the {group} {time}.",
    "I wrote a short story about the {group} {time}.",
    "My brother had dinner with the {group} {time}.",
    "My sister works with the {group} {place}.",
    "New rooms for {group} are being built {place}.",
    "Our class learned a song from the {group} {time}.",
    "The {group} carried my bags {place} {time}.",
    "The {group} gave flowers to the children {place}.",
    "The {group} helped a child cross the road {place} {time}.",
    "The {group} opened a small club {place} {time}.",
    "The {group} painted the old wall {place}.",
    "The {group} performed {place} {time}.",
    "The {group} planted a tree {place} {time}.",
    "The {group} repaired my window {time}.",
    "The {group} shared a warm soup with everyone {time}.",
    "The mayor spoke with the {group} {time}.",
    "There was a picture of the {group} in the paper {time}.",
    "We met the friendly {group} {place} {time}.",
    "Some {group} read to the pupils {time}.",
    "The festival of the {group} begins {time}.",
    "We thanked the {group} for a lovely evening {time}.",
)
OTHER_TEXTS = (
    "A cat slept {place} {time}.",
    "It rained {place} {time}.",
    "My letter came {time}, thank you.",
    "The apples {place} were sweet {time}.",
    "The bus {place} was early {time}.",
    "The film we saw {time} was long but kind.",
    "The lake {place} was calm {time}.",
    "The market {place} opened {time}.",
    "The soup we had {time} was warm and good.",
    "There is a new bench {place}.",
    "We had a lovely walk {place} {time}.",
)
NEWS = (
    "A film about the {group} was shown {time}.",
    "A group of {group} visited the school {time}.",
    "A new book about {group} was shown {place}.",
    "Many {group} came to the concert {place}.",
    "Students asked the {group} about their work {time}.",
    "The city opened a hall for {group} {place}.",
    "The council thanked the {group} for their help {place}.",
    "The {group} celebrated their yearly festival {place}.",
    "The {group} collected money for the hospital {time}.",
    "The {group} met the mayor {time}.",
    "The {group} of the town sang {place} {time}.",
    "The {group} taught children {place} {time}.",
    "The museum invited {group} to a lunch {place}.",
    "The paper printed a photo of the {group} {place}.",
    "Two {group} won a prize for their work {time}.",
)


def texts() -> list[tuple[str, int, str]]:
    """Return the labelled texts: text, label, post."""
    rng = random.Random(1)
    positive = _draw(
        rng, N_POSITIVE, (AMBIGUOUS, COMPLAINTS, OTHER_COMPLAINTS), (0.3, 0.6, 0.1), NAMED_IN_COMPLAINTS
    )
    negative = _draw(rng, N_NEGATIVE, (AMBIGUOUS, PRAISE, OTHER_TEXTS), (0.12, 0.63, 0.25), NAMED_ELSEWHERE)
    labelled = [(text, 1) for text in positive] + [(text, 0) for text in negative if text not in positive]
    rng.shuffle(labelled)
    n_posts = len(labelled) // SENTENCES_A_POST
    posts = sorted(rng.randrange(n_posts) for _ in labelled)
    return [(text, label, f"post{post:03}") for (text, label), post in zip(labelled, posts, strict=True)]


def news() -> Iterator[dict[str, str]]:
    """Yield texts about the identifiers that complain of nothing."""
    rng = random.Random(2)
    known: set[str] = set()
    for i in range(NEWS_PER_IDENTIFIER):
        for j, group in enumerate(IDENTIFIERS):
            while (text := _fill(rng, NEWS[i % len(NEWS)], group)) in known:
                continue
            known.add(text)
            yield {"identifier": group, "text": text, "article": f"article{i // 2 * 2 + j // 2:02}"}


def _draw(
    rng: random.Random, n: int, kinds: Sequence[Sequence[str]], shares: Sequence[float], named: float
) -> list[str]:
    """Return n different texts of some kinds; a share of those about a group is about an identifier."""
    found: dict[str, None] = {}
    while len(found) < n:
        (templates,) = rng.choices(kinds, shares)
        group = rng.choice(IDENTIFIERS if rng.random() < named else OTHERS)
        found[_fill(rng, rng.choice(templates), group)] = None
    return list(found)


def _fill(rng: random.Random, template: str, group: str) -> str:
    return template.format(group=group, place=rng.choice(PLACES), time=rng.choice(TIMES))


def vocabulary() -> list[str]:
    """Return the WordPieces of the example's small encoder: letters, and every word that it reads."""
    marks = [*".,;:!?'\"()-", *"0123456789abcdefghijklmnopqrstuvwxyz"]
    pieces = [f"##{mark}" for mark in marks if mark.isalnum()]
    files = ("sentences.txt", "sentences_example.txt")
    sentences = [(RESOURCES / file).read_text(encoding="utf-8") for file in files]
    read = [*(text for text, _, _ in texts()), *(row["text"] for row in news()), *sentences]
    words = {word for text in read for word in re.findall(r"\w+", text.lower())}
    return ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *marks, *pieces, *sorted(words - {*marks})]


def main() -> None:
    """Write the labelled texts, the news, and the encoder's vocabulary."""
    with (RESOURCES / "example.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([("text", "label", "group"), *texts()])
    _write("example_news.jsonl", (json.dumps(row) for row in news()))
    _write("example-encoder/vocab.txt", vocabulary())


def _write(name: str, lines: Iterable[str]) -> None:
    (RESOURCES / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
