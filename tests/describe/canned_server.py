"""A server process with canned answers; the name of the model says which.

    python canned_server.py LOG

Prints its port. Every request is a line of LOG: path, model, the Authorization header, the class.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

LOG = Path(sys.argv[-1])
asked: Counter[tuple[str, str]] = Counter()


def answer(content: Any, **more: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"content": content, **more}, "finish_reason": "stop"}]}


def good(name: str) -> dict[str, Any]:
    text = {"description": f"All about {name}.", "terms": [name.lower(), "thing", "thing"]}
    return answer("Sure!\n```json\n" + json.dumps(text) + "\n```")


class Canned(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        model, prompt = body["model"], body["messages"][0]["content"]
        found = re.search(r'Describe the class "([^"]*)"', prompt)
        name = found[1] if found else "?"
        key = self.headers.get("Authorization", "")
        with LOG.open("a", encoding="utf-8") as log:
            line = {"path": self.path, "model": model, "key": key, "class": name, "prompt": prompt}
            log.write(json.dumps(line) + "\n")
        asked[model, name] += 1
        first = asked[model, name] == 1
        if model == "busy" and first:
            self.say(429, {"error": {"message": "slow down"}}, {"Retry-After": "0.05"})
        elif model == "always-busy":
            self.say(503, {"error": {"message": f"overloaded, your key is {key[7:]}"}})
        elif model == "slow" and first:
            time.sleep(1.5)
        elif model == "malformed" and first:
            self.say(200, answer("Here you go: pots and pans"))
        elif model == "prose":
            self.say(200, answer("I am sorry, I cannot help with that."))
        elif model == "refuses" and name == "Music":
            self.say(200, answer(None, refusal="No."))
        elif model == "broken":
            self.say(200, ["no such protocol"])
        elif model == "forbidden":
            self.say(401, {"error": {"message": f"Incorrect API key provided: {key[7:]}"}})
        elif model == "moved":
            self.say(307, {}, {"Location": "http://127.0.0.1:9/v1/chat/completions"})
        elif model == "unknown":
            self.say(404, {"error": {"message": "no such model"}})
        elif model == "hangs" and name == "Music":
            time.sleep(30)
        else:
            self.say(200, good(name))

    def say(self, code: int, value: Any, headers: dict[str, str] | None = None) -> None:
        body = json.dumps(value).encode()
        self.send_response(code)
        for header, content in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(header, content)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Canned)
    print(server.server_port, flush=True)
    server.serve_forever()
