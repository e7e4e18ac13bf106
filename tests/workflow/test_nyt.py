"""The preset nyt, scaled down, on a made corpus in archives like those of the licensed one."""

import functools
import io
import itertools
import re
import tarfile
from pathlib import Path
from xml.sax.saxutils import escape

import pandas as pd
import pytest

from biaslab.embeddings.readers import read_documents
from biaslab.run.data.datasets import load_registry, resolve

ROOT = Path(__file__).parents[2]
NYT = ROOT / "workflow/presets/nyt.yaml"
SCALED_DOWN = """
datasets: {paths: {nyt-annotated-corpus: nyt}}
origins:
  setups:
    nyt:
      vocabulary: {min_count: 11}
      glove: {dimension: 8, epochs: 3}
      bias: {weats: [weat1], permutations: 1000}
      baselines: 2
      word2vec: {epochs: 2, trainings: 2}
      perturbations: {sizes: [10], random_sizes: [10], random_sets: 1, retrainings: 2}
      trainings_per_job: 2
"""
ARTICLE = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE nitf SYSTEM "http://www.nitf.org/IPTC/NITF/3.3/specification/dtd/nitf-3-3.dtd">
<nitf version="-//IPTC//DTD NITF 3.3//EN">
  <head>
    <title>{title}</title>
    <meta content="{section}" name="online_sections"/>
    <docdata><doc-id id-string="{number}"/></docdata>
    <pubdata date.publication="{year}{month}01T000000" name="The New York Times"/>
  </head>
  <body>
    <body.head><hedline><hl1>{title}</hl1></hedline></body.head>
    <body.content>
      <block class="lead_paragraph"><p>{lead}</p></block>
      <block class="full_text"><p>{lead}</p><p>{rest}</p></block>
    </body.content>
  </body>
</nitf>"""
MONTHS = [("1987", "01"), ("1987", "02"), ("1997", "06"), ("2007", "05")]
SECTIONS = ["Arts", "Science; Health", "Sports"]
WORDS = 400  # in an article

pytestmark = pytest.mark.slow


@functools.cache
def articles() -> list[tuple[str, list[str]]]:
    """Return title and words of what the embedded Wikipedia sample holds, cut to a newspaper's length."""
    cut = []
    registry = load_registry(ROOT / "workflow/resources/datasets.tsv")
    for page in read_documents(resolve(registry["enwiki-sample"]).location, "mediawiki"):
        words = re.findall(r"[A-Za-z]+", page.text)
        for part, start in enumerate(range(0, len(words), WORDS)):
            cut.append((f"{page.title}, {part}", words[start : start + WORDS]))
    return cut


def write_corpus(folder: Path) -> int:
    """Write monthly archives, data/YEAR/MONTH.tgz with articles below MONTH/DAY; return how many articles."""
    months = {month: [] for month in MONTHS}
    numbered = enumerate(zip(articles(), itertools.cycle(MONTHS), itertools.cycle(SECTIONS)))
    for number, ((title, words), (year, month), section) in numbered:
        fields = {"title": escape(title), "section": section, "number": number, "year": year, "month": month}
        text = ARTICLE.format(**fields, lead=" ".join(words[:30]), rest=" ".join(words[30:]))
        months[year, month].append((f"{month}/01/{number:07d}.xml", text.encode()))
    for (year, month), members in months.items():
        path = folder / "data" / year / f"{month}.tgz"
        path.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(path, "w:gz", compresslevel=1) as tar:
            for name, data in members:
                info = tarfile.TarInfo(name)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
    return number + 1


@pytest.fixture(scope="module")
def run(snakemake, tmp_path_factory) -> tuple[Path, int]:
    folder = tmp_path_factory.mktemp("nyt")
    n_articles = write_corpus(folder / "nyt")
    (folder / "mine.yaml").write_text(SCALED_DOWN)
    options = ["--cores", 2, "--quiet", "host", "reason", "--show-failed-logs"]
    finished = snakemake(folder, "--configfile", NYT, "mine.yaml", *options)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return folder / "results", n_articles


@pytest.fixture(scope="module")
def claims(run) -> pd.DataFrame:
    return pd.read_csv(run[0] / "audit/claims.tsv", sep="\t", keep_default_na=False).set_index("claim_id")


def test_documents_have_headline_date_and_section(run):
    results, n_articles = run
    documents = pd.read_parquet(results / "origins/nyt/documents.parquet")
    assert n_articles / 2 < len(documents) < n_articles  # too short ones are left out
    assert set(documents["year"]) == {"1987", "1997", "2007"}
    assert set(documents["date"]) == {f"{year}-{month}-01" for year, month in MONTHS}
    assert set(documents["section"]) == set(SECTIONS)
    row = documents.iloc[-1]
    titles = [title for title, _ in articles()]
    assert row["title"] == titles[int(row["id"])]
    assert documents["excerpt"].str.len().min() > 100


def test_claims_are_measured_but_never_reproduced_on_other_data(claims):
    own = claims[claims["setup"] == "nyt"]
    assert own.loc["t3-nyt-n-documents", "verdict"] == "not_reproduced"  # not the paper's corpus
    reasons = own.loc[own["verdict"] == "not_attempted", "reason"]
    assert not reasons.str.contains("not run").any()
    assert own.loc["t4-nyt-weat1", "verdict"] == "not_attempted"  # too few sets for an r2
    for claim in ("t2-nyt-weat1-mean", "s53-ppmi-r2", "ae-decreasing-1"):
        assert own.loc[claim, "verdict"] in {"held_elsewhere", "inconclusive", "failed_elsewhere"}
        is_decided = own.loc[claim, "verdict"] != "inconclusive"
        assert not is_decided or "measured on other data than the paper's" in own.loc[claim, "reason"]
    assert own.loc["s1-nyt-first-year", "measured"] == "1987"
    assert own.loc["t3-nyt-n-tokens", "verdict"] == "not_attempted"
    registry = pd.read_csv(ROOT / "workflow/resources/claims/origins.tsv", sep="\t").set_index("claim_id")
    about_nyt = own[own.index.map(registry["setup"]) == "nyt"]
    exact = about_nyt[about_nyt["verdict"] == "reproduced"]
    assert set(exact["kind"]) <= {"setting", "identity"}  # what the configuration and the made years fix
    assert "t3-nyt-n-documents" not in exact.index
