"""Rules for securing a server, joined by the controls of the standards they meet.

Source: the Debian package ssg-nondebian 0.1.65, the SCAP Security Guide, BSD licence; the guide for
Red Hat Enterprise Linux 8.

Node: a rule. Text: title and description, up to 80 words. Edge: two rules meet the same control of
a standard (NIST 800-53, CIS, ISO 27001 and others), one of at most forty rules. Class: the group of
the guide that the rule is in, the second level of its contents; groups of fewer than five rules are
left out.

Kinds: edges from shared attributes; classes of under twenty nodes; jargon.

Known weaknesses: a fifth of the rules are on SELinux switches, with texts that differ by a name. A
rule on the logging of a service may be under the service or under logging.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from xml.etree import ElementTree

from graphs.sources import Made, debian, sharing, start

SPACE = "{http://checklists.nist.gov/xccdf/1.2}"
WORDS = 80
MOST = 40
FEWEST = 5


def build() -> Made:
    """Read the guide and return its rules."""
    folder = debian("ssg-nondebian") / "usr/share/xml/scap/ssg/content"
    guide = ElementTree.parse(folder / "ssg-rhel8-xccdf.xml").getroot()
    texts: dict[str, str] = {}
    labels: dict[str, str] = {}
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for group in guide.iterfind(f"{SPACE}Group/{SPACE}Group"):
        for rule in group.iter(f"{SPACE}Rule"):
            own = rule.get("id", "").rpartition("content_rule_")[2]
            parts = map(rule.find, (f"{SPACE}title", f"{SPACE}description"))
            said = ". ".join("".join(part.itertext()) for part in parts if part is not None)
            texts[own] = start(said, WORDS)
            labels[own] = group.findtext(f"{SPACE}title", "")
            for met in rule.iterfind(f"{SPACE}reference"):
                holders[f"{met.get('href')} {met.text}"].append(own)
    sizes = Counter(labels.values())
    ids = [own for own in sorted(texts) if sizes[labels[own]] >= FEWEST]
    kept = {control: set(ids).intersection(group) for control, group in holders.items()}
    return Made(ids, [texts[own] for own in ids], [labels[own] for own in ids], sharing(kept, MOST))
