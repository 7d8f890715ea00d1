"""Pages whose tables are written from records."""

from __future__ import annotations

import pytest

from unseen.core.errors import InputError
from unseen.paper.pages import blocks, fill

PAGE = "a\n<!-- table x y -->\nold\n<!-- /table -->\nb\n<!-- sheet t 0 -->\n<!-- /sheet -->\nc\n"


def test_each_kind_of_block_has_its_maker_and_the_rest_stays() -> None:
    assert blocks(PAGE) == [("table", "x y"), ("sheet", "t 0")]
    made = fill(PAGE, {"table": str.upper, "sheet": lambda name: f"{name}\n"})
    assert made == PAGE.replace("old", "X Y").replace("t 0 -->\n", "t 0 -->\nt 0\n")
    assert fill(made, {"table": str.upper, "sheet": str}) == made


def test_a_block_that_nothing_makes_is_named() -> None:
    with pytest.raises(InputError, match="nothing makes the block sheet 't 0'; there is 'table'"):
        fill(PAGE, {"table": str.upper})
