"""Plotly's code: the partial bundle that was built into the wheel, else the one of the package.

The partial bundle (npm's `plotly.js-cartesian-dist-min`, pinned in web/package-lock.json to the
version that the Python package holds) draws what a report needs in a third of the size.
"""

from __future__ import annotations

from importlib.resources import files

from plotly.offline import get_plotlyjs


def plotly_code() -> str:
    """Return the code that a report carries."""
    built = files("unseen.report").joinpath("static", "plotly.min.js")
    return built.read_text(encoding="utf-8") if built.is_file() else str(get_plotlyjs())
