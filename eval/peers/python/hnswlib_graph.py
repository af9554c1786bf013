# pip: hnswlib==0.8.0 numpy==2.4.6
import hnswlib

from protocol import K_MOST, Matrix, about, serve


class Graph(Matrix):
    def open(self, _):
        return about("hnswlib", f"graph a user, M 16, ef_construction 200, ef {K_MOST}; approximate")

    def build(self, rows):
        index = hnswlib.Index(space="ip", dim=rows.shape[1])
        index.init_index(max_elements=len(rows), M=16, ef_construction=200)
        index.set_num_threads(1)
        index.add_items(rows)
        index.set_ef(K_MOST)
        return index

    def search(self, user, _, v, k):
        ids = self.ids[user]
        found, _ = self.built[user].knn_query(v, k=min(k, len(ids)), num_threads=1)
        return [ids[i] for i in found[0]]


serve(Graph())
