"""Operations of GitHub's interface for programs, joined by the schemas that they answer with.

Source: the npm package @octokit/openapi 23.0.2, MIT licence: GitHub's description of its REST
interface, itself under the MIT licence.

Node: an operation, such as "create a gist". Text: its summary and the start of its description, up
to 60 words. Edge: both name the same schema, of at most forty operations, in request or answer.
Class: the category of the operation in the documentation; those of fewer than ten are left out.

Kinds: the reference of an interface; edges from shared attributes; some classes that differ little
from others.

Known weaknesses: descriptions share long sentences on tokens and permissions. An operation on the
secrets of a repository may be under Actions, agents, Codespaces or Dependabot.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict

from graphs.sources import Made, npm, sharing, start

NAMES = {  # of categories that are not named by their own word
    "repos": "Repositories",
    "orgs": "Organizations",
    "pulls": "Pull requests",
    "git": "Git database",
}
WORDS = 60
MOST = 40
FEWEST = 10
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def build() -> Made:
    """Read the description of the interface and return its operations."""
    file = npm("@octokit/openapi@23.0.2") / "package/generated/api.github.com.json"
    every = json.loads(file.read_text(encoding="utf-8"))["paths"]
    told = {
        operation["operationId"]: operation
        for methods in every.values()
        for operation in methods.values()
    }
    sizes = Counter(operation["tags"][0] for operation in told.values())
    ids = [own for own in sorted(told) if sizes[told[own]["tags"][0]] >= FEWEST]
    holders: defaultdict[str, list[str]] = defaultdict(list)
    texts: list[str] = []
    for own in ids:
        said = f"{told[own]['summary']}. {told[own].get('description', '')}"
        texts.append(start(LINK.sub(r"\1", said), WORDS))
        for schema in set(re.findall(r"#/components/schemas/([\w-]+)", json.dumps(told[own]))):
            holders[schema].append(own)
    labels = [_name(told[own]["tags"][0]) for own in ids]
    return Made(ids, texts, labels, sharing(holders, MOST))


def _name(tag: str) -> str:
    """Return the name of a category: "code-scanning" is "Code scanning"."""
    words = tag.replace("-", " ").capitalize()
    return NAMES.get(tag, "Copilot Spaces" if tag == "copilot-spaces" else words)
