# pip: lancedb==0.40.0 numpy==2.4.6
import lancedb

from protocol import Peer, about, serve


class Table(Peer):
    def open(self, dir):
        self.db, self.tables = lancedb.connect(dir), {}
        return about("lancedb", "table on disk a user, without an index (the default), exact scan")

    def add(self, user, items):
        rows = [{"id": i["id"], "text": i["text"], "vector": i["vector"]} for i in items]
        if user in self.tables:
            self.tables[user].add(rows)
        else:
            self.tables[user] = self.db.create_table(f"user-{len(self.tables)}", rows)

    def search(self, user, _, v, k):
        found = self.tables[user].search(v).distance_type("cosine").select(["id", "text"]).limit(k).to_arrow()
        return found["id"].to_pylist()


serve(Table())
