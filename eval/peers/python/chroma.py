# pip: chromadb==1.5.9 numpy==2.4.6
import chromadb
from chromadb.config import Settings

from protocol import Peer, about, serve


class Chroma(Peer):
    def open(self, dir):
        self.client = chromadb.PersistentClient(dir, settings=Settings(anonymized_telemetry=False))
        self.collections = {}
        return about("chromadb", "PersistentClient, a collection a user, its HNSW at the defaults, cosine, given the vectors")

    def add(self, user, items):
        if user not in self.collections:
            self.collections[user] = self.client.create_collection(f"user-{len(self.collections)}", embedding_function=None, metadata={"hnsw:space": "cosine"})
        self.collections[user].add(ids=[i["id"] for i in items], embeddings=[i["vector"] for i in items], documents=[i["text"] for i in items])

    def search(self, user, _, v, k):
        return self.collections[user].query(query_embeddings=[v], n_results=k, include=[])["ids"][0]


serve(Chroma())
