# pip: mem0ai==2.2.1 qdrant-client==1.20.0 numpy==2.4.6
import os
import tempfile

os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=tempfile.mkdtemp(prefix="peers-mem0-"), OPENAI_API_KEY="none")

from mem0 import Memory  # it reads the environment when it is imported
from mem0.embeddings.base import EmbeddingBase

from protocol import Peer, about, serve


class Given(EmbeddingBase):
    """The embedder of mem0 that gives the vectors that came with the texts."""

    known = {}

    def embed(self, text, memory_action="add"):
        return self.known[text.strip()]

    def embed_batch(self, texts, memory_action="add"):
        return [self.embed(t) for t in texts]


class Mem0(Peer):
    def open(self, dir):
        self.memory = Memory.from_config({
            "vector_store": {"provider": "qdrant", "config": {"path": dir + "/qdrant", "on_disk": True, "embedding_model_dims": 384}},
            "history_db_path": dir + "/history.db",
        })
        self.memory.embedding_model = Given()
        return about("mem0ai", "add with infer=False and search with no threshold, over its default store (Qdrant within the process, on disk), "
                     "its embedder looks the vectors up; without spaCy and its sparse BM25, whose models no registry has")

    def add(self, user, items):
        for i in items:
            Given.known = {i["text"].strip(): i["vector"].tolist()}
            self.memory.add([{"role": i["role"], "content": i["text"]}], user_id=user, metadata={"turn": i["id"]}, infer=False)

    def search(self, user, query, v, k):
        Given.known = {query.strip(): v.tolist()}
        found = self.memory.search(query, filters={"user_id": user}, top_k=k, threshold=0.0)
        return [f["metadata"]["turn"] for f in found["results"]]


serve(Mem0())
