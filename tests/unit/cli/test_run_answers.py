"""What a run ends with: where its answers are."""

from pathlib import Path

from biaslab.cli.run import _answers


def test_a_run_names_what_is_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert _answers(["ranking"]) == []
    for name in ("results/audit", "results/ranking"):
        Path(name).mkdir(parents=True)
    Path("results/audit/audit.html").touch()
    assert _answers(["origins", "ranking"]) == ["results/audit/audit.html", "results/ranking"]
