"""JSON lines: an object a line, each key once, or an error that names the line."""

from __future__ import annotations

import json
import math

from unseen.core.errors import InputError, quoted


def read_json_lines(
    text: str, name: str, before: int = 0
) -> tuple[dict[str, list[object]], list[int]]:
    """Return the values of each column, and the line on which each row stands.

    Of a piece of a larger file, `before` lines are left out.
    """
    records: list[dict[str, object]] = []
    lines: list[int] = []
    for number, line in enumerate(text.split("\n"), start=1 + before):
        if not line.strip():
            continue
        try:
            record = json.loads(line, object_pairs_hook=_once, parse_float=_float)
        except _TwiceError as error:
            raise InputError(
                f"{name} line {number}: has the key {quoted(error)} twice; "
                "expected every key once; remove one"
            ) from None
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "msg", None) or error
            raise InputError(
                f"{name} line {number}: broken JSON ({reason}); "
                'expected one object a line, such as {"id": "a"}; correct the line'
            ) from None
        if not isinstance(record, dict):
            raise InputError(
                f"{name} line {number}: found a JSON {type(record).__name__}; "
                'expected one object a line, such as {"id": "a"}; correct the line'
            )
        if "\\u" in line:
            _check_escapes(record, f"{name} line {number}")
        records.append(record)
        lines.append(number)
    names = dict.fromkeys(key for record in records for key in record)
    return {key: [record.get(key) for record in records] for key in names}, lines


def _float(digits: str) -> float:
    """Return a number of JSON; one past 64 bits would be infinite."""
    found = float(digits)
    if math.isinf(found):
        raise ValueError(f"{quoted(digits)} is past what a number can be")
    return found


class _TwiceError(Exception):
    """A key that an object has twice."""


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return an object of JSON; of a key that it has twice, Python would take the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise _TwiceError(next(key for i, (key, _) in enumerate(pairs) if key in dict(pairs[:i])))
    return found


def _check_escapes(record: dict[str, object], where: str) -> None:
    """Refuse what JSON can escape but no text can hold."""
    for text in (*record, *(value for value in record.values() if isinstance(value, str))):
        if "\0" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
            raise InputError(
                f"{where}: found a NUL or half of a surrogate pair, written as \\u....; "
                "expected whole characters; remove it"
            )
