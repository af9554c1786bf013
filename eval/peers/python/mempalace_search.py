# pip: mempalace==3.11.0 numpy==2.4.6
import os
import tempfile

os.environ.update(HOME=tempfile.mkdtemp(prefix="peers-mempalace-"), MEMPALACE_EMBEDDING_MODEL="openai-compat",
                  MEMPALACE_EMBEDDING_API_URL="http://127.0.0.1:1", MEMPALACE_EMBEDDING_API_MODEL="given", ANONYMIZED_TELEMETRY="False")

from mempalace import embedding, palace, searcher  # they read the environment when they are imported

from protocol import Peer, about, serve

known = {}
# Where it would ask its endpoint for vectors it gets those that came with the texts.
embedding.OpenAICompatEmbeddingFunction.__call__ = lambda self, input: [known[t] for t in input]


class Palace(Peer):
    def open(self, dir):
        self.dir, self.drawers = dir + "/palace", {}
        self.ids, self.collection = {}, None
        return about("mempalace", "a drawer a message (wing: user, room and source: session), search_memories at its defaults: "
                     "vectors, ranked again with BM25 of what they found; its default store (Chroma)", arms="both")

    def add(self, user, items):
        if self.collection is None:
            os.makedirs(self.dir)
            self.collection = palace.get_collection(self.dir)
        known.clear()
        known.update((i["text"], i["vector"].tolist()) for i in items)
        ids, places = [], []
        for i in items:
            self.drawers[user, i["session"]] = at = self.drawers.get((user, i["session"]), -1) + 1
            ids.append(f"drawer-{len(self.ids)}")
            self.ids[ids[-1]] = i["id"]
            places.append({"wing": user, "room": i["session"], "source_file": i["session"], "chunk_index": at, "ingest_mode": "convos"})
        self.collection.upsert(documents=[i["text"] for i in items], ids=ids, metadatas=places)

    def search(self, user, query, v, k):
        known.clear()
        known[query] = v.tolist()
        found = searcher.search_memories(query, self.dir, wing=user, n_results=k)
        if "results" not in found:
            raise RuntimeError(str(found)[:300])
        return [self.ids[hit["drawer_id"]] for hit in found["results"]]


serve(Palace())
