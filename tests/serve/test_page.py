"""The page in a real Chromium: what people do with it, from the first look to a kept version."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from .browser import Visit, served, why_not

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(why_not() is not None, reason=str(why_not())),
]


@pytest.fixture(scope="module")
def shown(runs: Path) -> Iterator[str]:
    """Give the address of a run that nobody changes."""
    with served(runs / "pooled") as address:
        yield address


@pytest.fixture
def base(one_run: Path) -> Iterator[str]:
    """Give the address of a run to work on."""
    with served(one_run) as address:
        yield address


KEYS = ["Enter", "2", "Enter", "s", "n", "u", "Enter", "3", "a", "Enter", "2", "Enter"]


def test_search_and_open_a_node(visit: Visit, shown: str) -> None:
    ada = visit(shown)
    page = ada.go("", "#map[data-ready]")
    page.keyboard.press("/")
    page.keyboard.type("telescope")
    page.wait_for_selector("[role=option]")
    page.keyboard.press("ArrowDown")
    title = page.locator("[aria-selected=true] .option-title").inner_text()
    page.keyboard.press("Enter")
    page.wait_for_selector(".node h1")
    assert page.locator(".node h1").inner_text() == title
    assert "telescope" in page.locator(".node-text").inner_text().lower()
    assert page.locator("mark.for").count() > 0
    assert page.locator(".probs li").count() >= 2
    page.locator(".node-list a").first.click()
    page.wait_for_function(
        "t => (document.querySelector('.node h1')?.innerText ?? t) !== t", arg=title
    )
    page.keyboard.press("Escape")
    page.wait_for_selector("#panel", state="hidden")
    assert ada.problems == []


def test_an_address_opens_its_view_and_ids_may_hold_anything(visit: Visit, shown: str) -> None:
    ada = visit(shown)
    page = ada.go("node/n%2F10", ".node h1")
    assert page.locator(".node .id").inner_text() == "n/10"
    ada.go("class/cooking", ".class-view h1")
    assert page.locator(".class-view h1").inner_text().strip() == "cooking"
    ada.go("class/nowhere", ".empty")
    assert "no such class" in page.locator(".empty").inner_text()
    assert ada.problems == []
    ada.go("node/nowhere", "#panel [role=alert]")
    assert "Search above" in page.locator("#panel [role=alert]").inner_text()


def test_a_note_says_how_to_read_the_map_until_it_is_put_away(visit: Visit, shown: str) -> None:
    ada = visit(shown)
    page = ada.go("", ".map-note")
    assert "360 nodes, 4 classes" in page.locator(".map-note").inner_text()
    page.get_by_label("Put this note away").click()
    assert page.locator(".map-note").count() == 0
    page.reload()
    page.wait_for_selector("#map[data-ready]")
    assert page.locator(".map-note").count() == 0
    assert ada.problems == []


def test_the_legend_filters_the_map(visit: Visit, shown: str) -> None:
    ada = visit(shown)
    page = ada.go("", "#map[data-ready]")
    page.get_by_label("Show law on the map").click()
    assert page.get_by_label("Show law on the map").get_attribute("aria-pressed") == "false"
    page.get_by_label("Show cooking alone").focus()
    page.keyboard.press("Enter")
    pressed = page.locator(".legend-toggle[aria-pressed=true]")
    assert pressed.count() == 1
    assert pressed.get_attribute("aria-label") == "Show cooking on the map"
    page.get_by_role("button", name="show all", exact=True).click()
    assert page.locator(".legend-toggle[aria-pressed=false]").count() == 0


def test_a_dot_can_be_pointed_at_and_clicked(visit: Visit, shown: str) -> None:
    ada = visit(shown)
    page = ada.go("", "#map[data-ready]")
    node = page.request.get(f"{shown}/api/v1/view?position=20").json()
    box = page.locator(".map-canvas").bounding_box()
    assert box is not None
    unit = min(box["width"], box["height"]) * 0.88 / 2
    x = box["x"] + box["width"] / 2 + node["x"] * unit
    y = box["y"] + box["height"] / 2 - node["y"] * unit
    for step in range(600):  # dots can be pointed at soon after they are drawn
        page.mouse.move(x + step % 2, y)
        if page.locator(".tip").is_visible():
            break
        page.wait_for_timeout(100)
    page.mouse.click(x, y)
    page.wait_for_selector(".node h1")
    assert ada.problems == []


def test_the_map_returns_to_where_it_was(visit: Visit, shown: str) -> None:
    ada = visit(shown)
    page = ada.go("", "#map[data-ready]")
    page.get_by_label("Put this note away").click()
    page.wait_for_selector(".map-label:visible")
    before = ada.names()
    ada.go("node/n21", ".node h1")
    page.wait_for_function(
        "seen => [...document.querySelectorAll('.map-label:not([hidden])')]"
        ".every((each) => !seen.includes(each.style.transform))",
        arg=list(before.values()),
    )
    page.keyboard.press("Escape")  # the panel closes, and with it the map takes another size
    page.wait_for_function(
        "before => [...document.querySelectorAll('.map-label:not([hidden])')]"
        ".every((each) => before[each.textContent] === each.style.transform)",
        arg=before,
    )
    assert ada.names() == before


def test_preview_compare_and_keep_a_class(visit: Visit, base: str) -> None:
    ada = visit(base, "Ada")
    page = ada.go("edit", "#class-name")
    assert page.get_by_role("button", name="Keep").is_disabled()
    page.fill("#class-name", "baking")
    page.fill("#class-text", "Dough, flour and oven.")
    page.wait_for_selector(".preview .big")
    assert "baking" in page.locator(".preview .big").first.inner_text()
    page.fill("#class-text", "Dough, flour, butter, oven and recipes of bread.")
    page.wait_for_selector(".tries li:nth-child(2)")
    page.get_by_role("button", name="Keep").click()
    page.wait_for_selector(".class-view h1")
    assert page.locator(".class-view h1").inner_text().strip() == "baking"
    page.reload()
    page.wait_for_selector(".class-view h1")
    assert page.locator(".legend-name", has_text="baking").count() == 1
    ada.go("versions", ".version")
    assert page.locator(".version.current .version-number").inner_text() == "2"
    page.get_by_role("button", name="Use this").click()
    page.wait_for_selector(".version.current .version-number:text-is('1')")
    assert ada.problems == []


def test_teach_ten_nodes_by_keyboard_learn_and_keep(visit: Visit, base: str) -> None:
    ada = visit(base)
    page = ada.go("teach", ".card")
    page.keyboard.press("Enter")
    page.fill("#question", "Ada")
    page.keyboard.press("Enter")
    seen = set()
    for key in [*KEYS, "n"]:
        node = page.locator(".stage[data-id]").get_attribute("data-id")
        seen.add(node)
        page.keyboard.press(key)
        page.wait_for_function(
            "id => (document.querySelector('.stage').dataset.id ?? id) !== id", arg=node
        )
    page.keyboard.press("c")
    page.keyboard.type("law")
    page.keyboard.press("Enter")
    page.wait_for_selector(".people li:has-text('Ada')")
    page.wait_for_function("() => parseInt(document.querySelector('.people .num').innerText) >= 10")
    assert "Between" in page.locator(".teach-side").inner_text()
    page.click("#learn")
    page.wait_for_selector("#keep")
    page.wait_for_selector("#changed, .decision p:has-text('No node')")
    assert "After" in page.locator(".before-after").inner_text()
    page.click("#keep")
    page.wait_for_selector("#keep", state="detached")
    page.reload()
    page.wait_for_selector(".card")
    ada.go("versions", ".version")
    assert "Learned" in page.locator(".version.current").inner_text()
    ada.go(f"node/{quote(str(node), safe='')}", ".node h1")
    said = page.locator(".verdict").inner_text()
    assert "none of these" in said
    assert "People said" in said
    assert "%" not in said  # how sure the best class would be says nothing about none of them
    assert ada.problems == []


def test_two_browsers_at_once_see_each_other(visit: Visit, base: str) -> None:
    ada, ben = visit(base, "Ada"), visit(base, "Ben")
    for visitor, answer in ((ada, "astronomy"), (ben, "law")):
        page = visitor.go("node/n21", ".picker")
        page.select_option(".picker", answer)
        page.wait_for_selector(f".answers li:has-text('{answer}')")
    assert "Ada" in ben.page.locator(".answers").inner_text()
    page = ada.go("teach", ".teach-side .people")
    assert "Disagreement" in page.locator(".teach-side").inner_text()
    ben.go("edit", "#class-name")
    ben.page.fill("#class-name", "tennis")
    ben.page.fill("#class-text", "Tennis players and their score.")
    ben.page.wait_for_selector(".preview .big")
    ben.page.get_by_role("button", name="Keep").click()
    ben.page.wait_for_selector(".class-view h1")
    ada.go("", ".legend-name:has-text('tennis')")
    assert ada.problems == ben.problems == []
