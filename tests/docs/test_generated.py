"""The pages that follow from the schemas and the areas are up to date; headlines come from recorded runs."""

import re
from pathlib import Path

import pandas as pd
import pytest

import generated
import record
from biaslab.audit.summary import NO_ROW
from biaslab.audit.verdicts import NOT_ATTEMPTED, VERDICTS
from consoles import PAGES, ROOT
from lanes import first_quick


@pytest.mark.slow
@pytest.mark.parametrize("page", generated.generated_pages())
def test_generated_page_is_up_to_date(page: str) -> None:
    assert (ROOT / page).read_text(encoding="utf-8") == generated.renewed(page), (
        "run python docs/generated.py"
    )


_NUMBER = r"[-+−]?\d[\d.,]*%?"
INTERVAL = re.compile(rf"\[{_NUMBER}(?:,| to)\s{_NUMBER}\]|{_NUMBER}\s±\s{_NUMBER}")
NOT_TYPED = [
    generated.INSERTED,
    re.compile(rf"{generated.BEGIN}.*?{generated.END}", re.DOTALL),
    re.compile(r"^\s*```.*?^\s*```|`[^`\n]*`", re.DOTALL | re.MULTILINE),
]


def typed_intervals(text: str) -> list[str]:
    """Return the intervals of a page that no command inserts and no console shows."""
    for part in NOT_TYPED:
        text = part.sub("", text)
    return INTERVAL.findall(text)


@pytest.mark.parametrize("page", PAGES)
def test_no_interval_of_a_page_is_typed_by_hand(page: str) -> None:
    assert typed_intervals(PAGES[page]) == []


def test_every_table_of_another_run_says_which_and_is_shown() -> None:
    runs = generated.recorded_table("other/runs.tsv")
    assert runs["run"].str.len().gt(10).all()
    named = {f"other/{name}.tsv" for name in runs["table"]}
    files = {f"other/{path.name}" for path in (generated.RECORDED / "other").iterdir()}
    assert files == {*named, "other/runs.tsv"}
    assert named == {name for name in generated.named_tables() if name.startswith("other/")}


def test_a_mark_shows_a_part_of_a_table_or_one_cell(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pd.DataFrame({"|A|": ["2", "2", "3"], "to": ["a", "b", "a"], "x": ["1 ± 0", "2", "3"]})
    monkeypatch.setattr(generated, "recorded_table", lambda name: table)

    def shown(mark: str) -> str:
        return generated.INSERTED.sub(generated.inserted, mark)

    assert shown("<!--| t | x | |A|=2; to=a --><!--/-->") == "<!--| t | x | |A|=2; to=a -->1 ± 0<!--/-->"
    begin = "<!--| t | x; |A| | to=b or c -->"
    assert shown(f"{begin}\n<!--/-->") == f"{begin}\n\n| x | \\|A\\| |\n| --- | --- |\n| 2 | 2 |\n\n<!--/-->"
    with pytest.raises(ValueError, match="to=a: 2 rows"):
        shown("<!--| t | x | to=a --><!--/-->")
    with pytest.raises(ValueError, match="0 rows"):
        shown("<!--| t | x | to=lost -->\n<!--/-->")


def test_the_record_of_attributions_is_packed_from_itself(tmp_path: Path) -> None:
    packed = next((ROOT / "docs/records/attribution/origins").iterdir())
    record.record_benchmark(packed, tmp_path)
    files = [path.relative_to(packed) for path in packed.rglob("*") if path.is_file()]
    assert len(files) > 5
    assert all((tmp_path / path).read_bytes() == (packed / path).read_bytes() for path in files)


@pytest.mark.parametrize("name", first_quick(generated.RECORDS))
def test_a_recorded_run_measured_something_of_every_paper(name: str) -> None:
    table = generated._counts(name)
    assert table["paper"].nunique() == len(generated._areas(name))
    assert (table[[*VERDICTS, NO_ROW]].sum(axis=1) == table["printed"]).all()
    measured = table.assign(n=table["printed"] - table[NOT_ATTEMPTED] - table[NO_ROW]).groupby("paper")["n"]
    # No package holds posts labelled by people, and nothing of a paper is measured on made-up ones.
    nothing = {"Kennedy et al. 2020"} if name == "packages" else set()
    assert {paper for paper, n in measured.sum().items() if not n} == nothing


@pytest.mark.parametrize("name", generated.RECORDS)
def test_a_record_says_where_it_was_made(name: str) -> None:
    made = generated._made(name)
    assert set(made) - {"lacking", "areas", "gpus", "minutes"} == {"cpu", "cpus", "time", "commit", "setups"}
    assert all(made.values())


def test_there_is_a_record() -> None:
    assert "public" in generated.RECORDS
