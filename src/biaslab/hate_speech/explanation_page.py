"""The page that ``biaslab hate-speech explain`` prints, and its figure."""

import tempfile
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from biaslab.core.files import write_json, write_text
from biaslab.hate_speech.contexts import ContextSettings
from biaslab.hate_speech.hierarchy import collapse
from biaslab.hate_speech.hierarchy_text import Explained, scale_of, to_html, to_terminal
from biaslab.hate_speech.own_explanation import OwnExplanation
from biaslab.hate_speech.report.hierarchies import FILE, draw_hierarchies
from biaslab.run.area import Unit
from biaslab.run.reports import Results
from biaslab.run.terminal import page_console

if TYPE_CHECKING:
    from rich.console import Console

Mask = Callable[[str], str]


def show(
    found: Sequence[OwnExplanation], contexts: ContextSettings, identifiers: Collection[str], mask: Mask
) -> None:
    """Print the hierarchies of sentences on one scale of colours, and the importance of each phrase."""
    page = page_console()
    drawn = [_masked(one, mask) for one in found]
    scale = scale_of(drawn)
    page.print(
        f"Importance φ by {how(contexts)}. Red speaks for the positive class, blue against it; the strongest"
        f" colour is {scale:.3f}"
    )
    for one, explained in zip(found, drawn, strict=True):
        page.print()
        page.print(to_terminal(explained, scale), crop=False)
        _print_phrases(explained, page)
        known = [(mask(word), phi) for word, phi in one.importance if word in identifiers]
        if known:
            page.print(Text(f"identifiers: {_listed(known)}"))
        for limit in one.limits:
            page.print(limit)


def write(stem: Path, found: Sequence[OwnExplanation], contexts: ContextSettings, mask: Mask) -> None:
    """Write the hierarchies as a figure (.svg, .pdf, .png), a page (.html) and numbers (.tsv)."""
    kind = "soc" if contexts.radius else "oc"
    rows = [
        {
            "sentence": [mask(word) for word in one.words],
            "method": kind,
            "score": one.score,
            "levels": one.hierarchy.levels,
        }
        for one in found
    ]
    with tempfile.TemporaryDirectory() as folder:
        write_json(Path(folder) / FILE, rows)
        draw_hierarchies([Results(Unit("own", options={"unmask": True}), Path(folder))], stem)
    drawn = [_masked(one, mask) for one in found]
    write_text(f"{stem}.html", to_html(drawn, f"Importance by {how(contexts)}"))


def how(contexts: ContextSettings) -> str:
    """Say by which explanation, and in which contexts."""
    if not contexts.radius:
        return "occlusion (OC)"
    n, radius = contexts.samples, contexts.radius
    return f"sampling and occlusion (SOC, {n} contexts, {radius} word pieces on each side)"


def _masked(one: OwnExplanation, mask: Mask) -> Explained:
    return Explained([mask(word) for word in one.words], one.hierarchy, one.score)


def _print_phrases(explained: Explained, page: "Console") -> None:
    """Print the phrases of each level: without colours nothing else tells their importance."""
    for level, phrases in enumerate(collapse(explained.hierarchy.levels)):
        named = [(" ".join(explained.words[start:end]), phi) for start, end, phi in phrases]
        page.print(Text(f"{f'level {level}' if level else 'words'}: {_listed(named)}", style="dim"))


def _listed(phrases: Sequence[tuple[str, float]]) -> str:
    return ", ".join(f"{words} {phi:+.3f}" for words, phi in phrases)
