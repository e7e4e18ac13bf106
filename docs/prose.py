"""Check the prose of the repository: turns of phrase that readers stumble over fail ``make lint``.

``python docs/prose.py`` reads README, CONTRIBUTING, the hand-written pages, the captions, the comments of
``config.yaml`` and, in ``src``, docstrings, comments, strings and the meanings of columns.
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
BANNED = {
    r"anew|(?:made|makes?|making|run|runs) (?:\w+ )?anew": "again, regenerate, recompute, rerun",
    r"to be had": "available",
    r"at hand": "available, present",
    r"for want of": "because ... is missing",
    r"all but (?:the|one|two|\d)": "all except",
    r"put to the test": "to test, to validate",
    r"(?:go|goes|going|went|do|does|doing|done) without": "skip, omit, do not need",
    r"without a word": "silently",
    r"for people|somebody(?:'s)?": "users, a user's",
    r"(?:is|are|was|were|be) told": "is given, receives",
    r"tells? (?:whether|how|what|which|why)|tells? (?:it|them|us)": "return whether, state, print",
    r"(?:is|are|was|were) said|says? (?:how|what|whether|which|why|so)": "state, report, describe",
    r"beside": "next to, alongside, compared with",
    r"rests? on": "depends on, uses",
    r"held elsewhere|failed elsewhere": "consistent or inconsistent on other data",
    r"goes? on(?: from)?|went on": "continue, resume",
    r"a run that travels|travell?ing run": "an archived run",
    r"what (?:is|are|was|were) (?:there|made|meant|asked|told|said|given|wanted)": "the noun itself",
    r"on its own account|as it (?:goes|stands)|of its own accord": "delete",
    r"(?:is|are) not gone into": "skip",
}
"""Regular expressions of whole words, and what to write instead."""
KEPT = re.compile(
    "direction found anew|this run does without|not at hand were|cannot be told|is for people to"
    "|Somebody wrote"
)
"""A label and a note of recorded tables, a verdict, and a sentence that classifiers read."""
_PATTERNS = {re.compile(rf"\b(?:{turn})\b", re.IGNORECASE): better for turn, better in BANNED.items()}
_NOT_PROSE = re.compile(
    r"<!-- generated.*?<!-- end -->|<!--[|].*?<!--/-->|```.*?```|``.*?``|`[^`\n]*`|https?://\S+", re.S
)
LONG = 25
"""Words; more in a sentence are reported, not refused."""


def blank_code(text: str) -> str:
    """Return a text whose code, addresses and generated parts are blank, with the same lines."""
    for pattern in (_NOT_PROSE, KEPT):
        text = pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    return text


def texts_of(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the prose of a file, with the number of its first line."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        lines = text.splitlines()
        if path.suffix in (".yaml", ".smk"):
            lines = [line.partition("#")[2] for line in lines]
        yield 1, blank_code("\n".join(lines))
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, blank_code(node.value)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], blank_code(token.string)


def find_banned(path: Path) -> Iterator[str]:
    """Yield a line for each banned turn of a file."""
    for first, text in texts_of(path):
        for pattern, better in _PATTERNS.items():
            for match in pattern.finditer(text):
                line = first + text.count("\n", 0, match.start())
                yield f"{path.relative_to(ROOT)}:{line}: '{match[0]}'; write: {better}"


def files() -> list[Path]:
    """Return the files that hold prose."""
    pages = [page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "api"]
    captions = sorted((ROOT / "workflow/report").glob("*.rst"))
    return [
        *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "config.yaml")),
        *pages,
        *captions,
        *sorted((ROOT / "workflow/rules").glob("*.smk")),
        *sorted((ROOT / "src").rglob("*.py")),
        *sorted((ROOT / "src").rglob("columns.tsv")),
    ]


def share_of_long_sentences(paths: list[Path]) -> float:
    """Return the share of sentences of Markdown pages that have more than `LONG` words."""
    text = " ".join(text for path in paths if path.suffix == ".md" for _, text in texts_of(path))
    sentences = [s for s in re.split(r"(?<=[.:!?])\s+|\n\s*\n|\n[-|#*]", text) if len(s.split()) > 2]
    return sum(len(sentence.split()) > LONG for sentence in sentences) / len(sentences)


def main() -> int:
    """Print what is banned; return 1 where there is any."""
    paths = files()
    hits = [hit for path in paths for hit in find_banned(path)]
    print(*hits, sep="\n", end="\n" if hits else "")
    long = share_of_long_sentences(paths)
    print(f"prose: {len(hits)} banned turns; {long:.1%} of sentences over {LONG} words")
    return bool(hits)


if __name__ == "__main__":
    sys.exit(main())
