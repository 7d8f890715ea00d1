"""What MkDocs does not do by itself: links out of docs/, and pages that are made from the code.

Pages of docs/ are read in the repository as well, where `../results/zoo.jsonl` leads to a file. The
site holds no such file: there the link becomes its text, a picture is copied, and a file that is
not there is a warning, which `--strict` makes an error.
"""

from __future__ import annotations

import logging
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(!?)\[([^\]]+)\]\(((?:\.\./)+[^)#]+)(#[^)]*)?\)")
COMMANDS = "<!-- commands -->"
BOLD = re.compile(r"\[bold\](.*?)\[/bold\]", re.DOTALL)  # as rich marks an example
log = logging.getLogger("mkdocs.hooks.unseen")
pictures: set[str] = set()  # paths in the repository of pictures that pages show


def outside(page: str, link: str) -> str | None:
    """Return the path in the repository that a link of a page leads to, if it leaves docs/."""
    place = posixpath.normpath(posixpath.join("docs", posixpath.dirname(page), link))
    return None if place.startswith("docs/") else place


def without_links_out(text: str, page: str) -> str:
    """Return a page whose links stay within the site."""

    def replaced(found: re.Match[str]) -> str:
        shown, name, link, _ = found.groups()
        place = outside(page, link)
        if place is None:
            return found[0]
        if not (ROOT / place).exists():
            log.warning("%s links to %s, which is not there", page, place)
        if shown:
            up = "../" * page.count("/")
            return f"![{name}]({up}{place})"
        return name if name.startswith("`") else f"`{place}`" if "/" in name else name

    return LINK.sub(replaced, text)


def on_files(files: Files, config: Any) -> Files:
    """Add the pictures that lie outside of docs/."""
    pages = [file for file in files if file.src_uri.endswith(".md")]
    for file in pages:
        for shown, _, link, _ in LINK.findall(file.content_string):
            place = outside(file.src_uri, link)
            if shown and place is not None:
                pictures.add(place)
    for place in sorted(pictures):
        files.append(File.generated(config, place, abs_src_path=str(ROOT / place)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Fill in what the command line says of itself, and keep links within the site."""
    if COMMANDS in markdown:
        markdown = markdown.replace(COMMANDS, commands())
    return without_links_out(markdown, page.file.src_uri)


def commands() -> str:
    """Return the help of every command, as typer has it."""
    import typer
    from typer.cli import get_docs_for_click

    from unseen.cli import app

    command: Any = typer.main.get_command(app)
    context = typer.Context(command, info_name="unseen")
    for name in [name for name, each in command.commands.items() if each.hidden]:
        del command.commands[name]
    text = get_docs_for_click(obj=command, ctx=context, name="unseen")
    text = BOLD.sub(lambda found: f"`{' '.join(found[1].split())}`", text).replace("\\[", "[")
    return "## " + text.partition("\n## ")[2]  # without the summary of all commands
