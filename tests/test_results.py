"""The results table of the README is the record in results/, number for number."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parents[1]


def results_table(record: dict[str, dict[str, dict[str, float]]]) -> str:
    """Return the table of the README as the record has it."""
    lines = [
        "| graph | majority floor | text only | full pipeline | macro | calibration error |",
        "|---|---|---|---|---|---|",
    ]
    for name, row in record["rows"].items():
        spread = f" ± {row['deviation']:.1f}" if row["runs"] > 1 else ""
        lines.append(
            f"| {name} | {row['floor']:.1f} | {row['text only']:.1f} | "
            f"**{row['accuracy']:.1f}**{spread} | {row['macro']:.1f} | "
            f"{row['calibration error']:.2f} |"
        )
    return "\n".join(lines)


def test_every_figure_of_the_readme_stands_in_the_record() -> None:
    record = json.loads((ROOT / "results" / "text_graphs.json").read_text(encoding="utf-8"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = readme.partition("<!-- results -->\n")[2].partition("\n<!-- /results -->")[0]
    assert shown == results_table(record)
