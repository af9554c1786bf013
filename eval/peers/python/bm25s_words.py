# pip: bm25s==0.3.16 numpy==2.4.6
import bm25s

from protocol import Peer, about, serve


class Words(Peer):
    """BM25 as the package does it out of the box: its own tokenizer."""

    def __init__(self):
        self.ids, self.texts, self.built = {}, {}, {}

    def open(self, _):
        return about("bm25s", self.what, arms="words")

    what = "BM25 alone, the package's own tokenizer with English stop words"

    def cut(self, texts):
        return bm25s.tokenize(texts, stopwords="en", show_progress=False, return_ids=False)

    def add(self, user, items):
        self.ids.setdefault(user, []).extend(i["id"] for i in items)
        self.texts.setdefault(user, []).extend(i["text"] for i in items)

    def settle(self):
        for user, texts in self.texts.items():
            self.built[user] = bm25s.BM25(k1=1.2, b=0.75)
            self.built[user].index(self.cut(texts), show_progress=False)
        self.texts.clear()

    def search(self, user, query, _, k):
        ids = self.ids[user]
        words = self.cut([query])
        if not words[0]:
            return []
        found, scores = self.built[user].retrieve(words, k=min(k, len(ids)), show_progress=False, n_threads=0)
        return [ids[i] for i, score in zip(found[0], scores[0]) if score > 0]


if __name__ == "__main__":
    serve(Words())
