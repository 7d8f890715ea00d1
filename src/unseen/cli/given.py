"""Options as they were given: each once, and none that would say nothing."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand

from unseen.core.errors import InputError

GIVEN: dict[str, str] = {}  # parameter -> option, of the one command that this process runs


class Command(TyperCommand):
    """A command that knows which options were given, and refuses one that was given twice.

    The last would win without a word: `--text-columns title --text-columns body` reads bodies only.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Note what is given before it is read."""
        if not ctx.resilient_parsing:
            GIVEN.clear()
            for parameter in self.make_parser(ctx).parse_args(args=list(args))[2]:
                option, flag = parameter.opts[0], getattr(parameter, "is_flag", False)
                if parameter.name in GIVEN and not flag:
                    several = "; several columns are one option, with commas between"
                    raise InputError(
                        f"{option}: is given twice, and the last would win; give it once"
                        + several * (parameter.name == "text_columns")
                    )
                GIVEN[str(parameter.name)] = option
        found: list[str] = super().parse_args(ctx, args)
        return found


def refuse(names: tuple[str, ...], why: str) -> None:
    """Refuse options that were given where they would say nothing."""
    found = next((GIVEN[name] for name in names if name in GIVEN), None)
    if found is not None:
        raise InputError(f"{found}: {why}, or leave {found} out")
