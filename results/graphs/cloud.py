"""Operations of cloud services, joined by the parameters they take.

Source: the Python package botocore 1.44.3, Apache licence 2.0: the interfaces of Amazon's services.

Node: an operation of one of 52 services. Text: its documentation, up to 60 words. Edge: two
operations take a parameter of the same name, one of at most twenty operations here. Class: the
service, by the name that the source gives it.

Kinds: over fifty classes, some under twenty nodes; edges from shared attributes, within and across
services; an API reference.

Known weaknesses: many texts name their service. The services were picked by hand for variety, with
at most 65 operations each. Operations that every service has (tags) share no words with it.
"""

from __future__ import annotations

import gzip
import html
import json
import re
from collections import defaultdict

from graphs.sources import Made, pip, sharing, start

SERVICES = (
    "accessanalyzer acm amplify appconfig appflow batch braket budgets cloud9 cloudhsmv2 "
    "cloudtrail codeartifact codebuild codedeploy codepipeline cognito-identity "
    "comprehendmedical databrew datasync detective dynamodb efs elb firehose fis forecast fsx "
    "glacier globalaccelerator grafana groundstation health healthlake ivschat kendra kms "
    "lex-models location managedblockchain mediaconvert mq mturk outposts polly secretsmanager "
    "shield sns sqs stepfunctions textract transcribe translate"
)
NAMES = {"AWSKendraFrontendService": "Amazon Kendra", "AmazonMQ": "Amazon MQ"}  # told plainly
WORDS = 60
MOST = 20


def build() -> Made:
    """Read the newest interface of each service."""
    root = pip("botocore==1.44.3") / "botocore/data"
    ids: list[str] = []
    texts: list[str] = []
    labels: list[str] = []
    holders: defaultdict[str, list[str]] = defaultdict(list)
    for service in SERVICES.split():
        *_, newest = sorted((root / service).glob("*/service-2.json.gz"))
        told = json.loads(gzip.decompress(newest.read_bytes()))
        label = told["metadata"]["serviceFullName"]
        label = NAMES.get(label, label)
        for name, operation in sorted(told["operations"].items()):
            text = html.unescape(re.sub(r"<[^>]+>", " ", operation.get("documentation", "")))
            if not text.strip():
                continue
            ids.append(f"{service} {name}")
            texts.append(start(text, WORDS))
            labels.append(label)
            given = told["shapes"].get(operation.get("input", {}).get("shape"), {})
            for parameter in given.get("members", {}):
                holders[parameter.lower()].append(ids[-1])
    return Made(ids, texts, labels, sharing(holders, MOST))
