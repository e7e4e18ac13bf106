"""Take the pictures of answers in README.md: ``python docs/pictures.py [CHROMIUM]``.

Each is the beginning of a page that a command writes about the made-up data of a tutorial. Nothing else needs
Chromium, and no test repeats this: after a change of the pages run it, and look at what it made.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from consoles import File, prepare, run, steps  # noqa: E402

WIDTH, HEIGHT = 760, 1100  # pixels
COLOURS = 128
ATTRIBUTE = (
    "biaslab origins attribute articles.jsonl --test my_words.yaml --out found"
    " --min-count 15 --window 5 --dimension 12 --epochs 300"
)
PAGES = {
    "origins": ("origins-corpus", "python articles.py", ATTRIBUTE, "found/answer.html"),
    "debiasing": ("debiasing-embedding", "biaslab debiasing audit", "", "debiasing-audit.html"),
    "ranking": ("ranking-lists", "biaslab ranking audit", "", "ranking-audit.html"),
    "fairness_testing": ("classifier-table", "biaslab fairness-testing audit", "", "fairness-audit.html"),
    "hate_speech": ("hate-speech-texts", "biaslab hate-speech audit", "", "hate-speech-audit.html"),
}
"""By picture: a tutorial, the beginning of the last of its commands to run, one more command, the page."""


def take(chromium: str, name: str) -> None:
    """Write ``docs/images/answer_NAME.png``."""
    tutorial, last, further, page = PAGES[name]
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        environment = prepare(folder)
        for step in steps((ROOT / f"docs/tutorials/{tutorial}.md").read_text(encoding="utf-8")):
            if isinstance(step, File):
                (folder / step.name).write_text(step.text, encoding="utf-8")
                continue
            run(step.line, folder, environment)
            if step.line.startswith(last):
                break
        if further:
            run(further, folder, environment)
        options = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={WIDTH},{HEIGHT}"]
        shot = folder / "shot.png"
        subprocess.run([chromium, *options, f"--screenshot={shot}", folder / page], check=True)
        pixels = Image.open(shot).convert("RGB")
        few = pixels.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(ROOT / f"docs/images/answer_{name}.png", optimize=True)


if __name__ == "__main__":
    for name in PAGES:
        take(sys.argv[1] if len(sys.argv) > 1 else "chromium", name)
