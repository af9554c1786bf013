# pip: numpy==2.4.6
import subprocess
import sys
import time
import urllib.parse

from protocol import Peer, serve
from wire import Wire


class Yiku(Peer):
    """Yiku's own server in a process of its own, asked over its API."""

    def open(self, dir):
        binary, vectors = sys.argv[1:3]
        self.server = subprocess.Popen([binary, "-vectors", vectors, "server", dir], stdout=subprocess.PIPE, text=True)
        address = urllib.parse.urlsplit(self.server.stdout.readline().strip())
        self.wire = Wire(address.hostname, address.port)
        return {"version": "", "licence": "Apache-2.0", "over": "http", "arms": "both", "threads": 1,
                "what": "its server and store on disk; the question as text, whose vector it has"}

    def add(self, user, items):
        messages = []
        for i in items:
            message = {"id": i["id"], "role": i["role"], "content": i["content"]}
            message.update({to: i[of] for to, of in (("name", "name"), ("created_at", "time")) if i.get(of)})
            messages.append(message)
        session = urllib.parse.quote(items[0]["session"], safe="")
        self.wire.ask("POST", f"/v1/sessions/{session}/messages", {"user_id": user, "messages": messages})

    def settle(self):
        while any(j["kind"] == "embed" for j in self.wire.ask("GET", "/v1/jobs?limit=500&state=waiting")["items"]):
            time.sleep(0.01)

    def search(self, user, query, _, k):
        found = self.wire.ask("POST", "/v1/memories/search",
                              {"user_id": user, "query": query, "limit": k, "min_relevance": 0, "include_messages": True})
        return [i["message"]["id"] if "message" in i else "" for i in found["items"]]

    def close(self):
        self.server.terminate()
        self.server.wait()


serve(Yiku())
