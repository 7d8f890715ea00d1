"""Text of users where it goes: shown, never obeyed."""

from __future__ import annotations

import json
import re

import polars as pl
import pytest

from unseen.core.errors import MOST, InputError, UnseenError, cut, quoted, shortlist
from unseen.core.escape import formula, json_text, markdown, terminal, without_formulas

CONTROLS = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0), 0x200F, 0x202E, 0x2066]))


def test_a_terminal_obeys_nothing() -> None:
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f‎‏\u202a-\u202e]", terminal(CONTROLS))
    assert terminal("héllo 中文 🙂\n") == "héllo 中文 🙂\n"


def test_json_for_a_terminal_means_the_same() -> None:
    encoded = json_text(json.dumps({"name": CONTROLS}, ensure_ascii=False))
    assert json.loads(encoded) == {"name": CONTROLS}
    assert terminal(encoded) == encoded


@pytest.mark.parametrize(
    "text",
    [
        "![x](http://host/p.png)",
        "<img src=http://host/p.png>",
        "[x](http://host)",
        "<http://host>",
        "<script>alert(1)</script>",
        "www.host.example and me@host.example",
        "a | b \\| c",
        "`code` **bold** _it_ ~~gone~~ $x$ &lt;",
        "[x]: http://host",
    ],
)
def test_markdown_shows_letters(text: str) -> None:
    shown = markdown(f"{text}\n# next")
    assert "\n" not in shown
    bare = re.sub(r"\\.", "", shown)
    assert not re.search(r"[`*_\[\]<>!|~&$@]|://|www\.", bare)
    assert re.sub(r"\\(.)", r"\1", shown) == f"{text} # next"


def test_markdown_as_a_library_renders_it() -> None:
    rendering = pytest.importorskip("markdown_it")
    page = (
        "| a |\n|---|\n| " + markdown("![x](http://h/p.png) <img src=x> | [a](b) http://h") + " |"
    )
    html = rendering.MarkdownIt("commonmark").enable("table").render(page)
    assert not re.search("<(img|a|script)[ >]", html)
    assert html.count("<td>") == 1


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@x", "\t=1", " =1", "\rx"])
def test_formulas_are_computed_by_no_spreadsheet(cell: str) -> None:
    assert formula(cell) == f"'{cell}"
    table = pl.DataFrame({"id": [cell, None, "a=b"], "n": [-1.5, 2.0, 3.0]})
    assert without_formulas(table).rows() == [(f"'{cell}", -1.5), (None, 2.0), ("a=b", 3.0)]


def test_a_message_is_short_whatever_a_cell_holds() -> None:
    error = InputError(f"n.csv line 3: label {'x' * 10_000!r} is not a class; correct the label")
    assert len(str(error)) == MOST
    assert str(error).startswith("n.csv line 3: label 'xxx")
    assert str(error).endswith("is not a class; correct the label")
    assert str(UnseenError("short")) == "short"
    assert len(shortlist(["y" * 1_000] * 9)) < 400
    assert quoted("z" * 100) == repr("z" * 57 + "...")
    assert cut("abc", 3, 1) == "abc"
