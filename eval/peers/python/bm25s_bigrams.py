# pip: bm25s==0.3.16 numpy==2.4.6
import re

from bm25s_words import Words
from protocol import serve

PIECES = re.compile(r"[\u3400-\u9fff]+|[^\W\u3400-\u9fff]+")


def cut(text):
    """Words in lower case; of Chinese each character and each pair."""
    out = []
    for piece in PIECES.findall(text.lower()):
        if "\u3400" <= piece[0] <= "\u9fff":
            out.extend(piece)
            out.extend(piece[i : i + 2] for i in range(len(piece) - 1))
        else:
            out.append(piece)
    return out


class Bigrams(Words):
    what = "BM25 alone; we cut the texts for it: words, and characters and pairs of Chinese"

    def cut(self, texts):
        return [cut(t) for t in texts]


serve(Bigrams())
