# pip: sqlite-vec==0.1.9 apsw==3.54.1.0 numpy==2.4.6
import apsw
import sqlite_vec

from protocol import Peer, about, serve


class Table(Peer):
    def open(self, dir):
        self.db = apsw.Connection(dir + "/peer.db")
        self.db.enable_load_extension(True)
        sqlite_vec.load(self.db)
        self.db.execute("CREATE TABLE items (n INTEGER PRIMARY KEY, id TEXT, text TEXT)")
        self.db.execute("CREATE VIRTUAL TABLE found USING vec0 (user TEXT PARTITION KEY, v FLOAT[384] DISTANCE_METRIC=cosine)")
        return about("sqlite-vec", "vec0 table on disk partitioned by user, exact scan, joined with the table of texts")

    def add(self, user, items):
        self.db.execute("BEGIN")
        for i in items:
            self.db.execute("INSERT INTO items (id, text) VALUES (?, ?)", (i["id"], i["text"]))
            self.db.execute("INSERT INTO found (rowid, user, v) VALUES (?, ?, ?)", (self.db.last_insert_rowid(), user, i["vector"].tobytes()))
        self.db.execute("COMMIT")

    def search(self, user, _, v, k):
        rows = self.db.execute(
            "SELECT id, text FROM (SELECT rowid AS n, distance FROM found WHERE v MATCH ? AND user = ? AND k = ?) JOIN items USING (n) ORDER BY distance",
            (v.tobytes(), user, k),
        )
        return [id for id, _ in rows]


serve(Table())
