"""The claims, whose printed numbers tables show next to measured numbers."""

from pathlib import Path

CLAIMS = Path(__file__).parents[1] / "workflow/resources/claims"
