# pip: faiss-cpu==1.15.1 numpy==2.4.6
import faiss

from protocol import Matrix, about, serve


class Flat(Matrix):
    def open(self, _):
        faiss.omp_set_num_threads(1)
        return about("faiss-cpu", "IndexFlatIP a user, exact scan")

    def build(self, rows):
        index = faiss.IndexFlatIP(rows.shape[1])
        index.add(rows)
        return index

    def search(self, user, _, v, k):
        _, found = self.built[user].search(v[None], k)
        ids = self.ids[user]
        return [ids[i] for i in found[0] if i >= 0]


serve(Flat())
