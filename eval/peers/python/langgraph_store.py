# pip: langgraph==1.2.24 numpy==2.4.6
from langgraph.store.memory import InMemoryStore

from protocol import Peer, about, serve


class Store(Peer):
    """The store asks a function for vectors; it gives those that came with the texts."""

    def open(self, _):
        self.known = {}
        self.store = InMemoryStore(index={"dims": 384, "embed": self.embed, "fields": ["text"]})
        return about("langgraph", "InMemoryStore with an index, a namespace a user; its embedder looks the vectors up")

    def embed(self, texts):
        return [self.known[t] for t in texts]

    def add(self, user, items):
        for i in items:
            self.known[i["text"]] = i["vector"].tolist()
            self.store.put((user,), i["id"], {"text": i["text"]})

    def settle(self):
        self.known.clear()

    def search(self, user, query, v, k):
        self.known = {query: v.tolist()}
        return [found.key for found in self.store.search((user,), query=query, limit=k)]


serve(Store())
