# pip: chromadb==1.5.9 numpy==2.4.6
import os
import socket
import subprocess
import sys
import time

from protocol import Peer, about, serve
from wire import Wire

PLACE = "/api/v2/tenants/default_tenant/databases/default_database/collections"


class Chroma(Peer):
    """Chroma's own server in a process of its own, asked over its API."""

    def open(self, dir):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.server = subprocess.Popen([os.path.join(os.path.dirname(sys.executable), "chroma"), "run", "--path", dir, "--host", "127.0.0.1", "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                       env=dict(os.environ, RUST_LOG="error"))
        for _ in range(600):
            try:
                self.wire = Wire("127.0.0.1", port)
                break
            except OSError:
                time.sleep(0.1)
        self.collections = {}
        return about("chromadb", "its server and store on disk, a collection a user, its HNSW at the defaults, cosine; the question's vector", over="http")

    def add(self, user, items):
        if user not in self.collections:
            made = self.wire.ask("POST", PLACE, {"name": f"user-{len(self.collections)}", "configuration": {"hnsw": {"space": "cosine"}}})
            self.collections[user] = made["id"]
        self.wire.ask("POST", f"{PLACE}/{self.collections[user]}/add",
                      {"ids": [i["id"] for i in items], "embeddings": [i["vector"].tolist() for i in items], "documents": [i["text"] for i in items]})

    def search(self, user, _, v, k):
        found = self.wire.ask("POST", f"{PLACE}/{self.collections[user]}/query",
                              {"query_embeddings": [v.tolist()], "n_results": k, "include": ["documents"]})
        return found["ids"][0]

    def close(self):
        self.server.terminate()
        self.server.wait()


serve(Chroma())
