"""What every peer in Python shares: the protocol of ../protocol."""

import base64
import importlib.metadata
import json
import os
import sys
import time

import numpy

K_MOST = 100


def about(distribution, what, over="process", arms="vectors"):
    """Version and licence as the installed package states them."""
    meta = importlib.metadata.metadata(distribution)
    licence = meta.get("License-Expression") or meta.get("License") or ""
    if not licence or len(licence) > 40:
        names = [c.split(" :: ")[-1] for c in meta.get_all("Classifier") or [] if c.startswith("License")]
        licence = names[0] if names else licence.strip().splitlines()[0] if licence else "not stated"
    return {"version": meta["Version"], "licence": licence, "what": what, "over": over, "arms": arms, "threads": 1}


def vector(text):
    return numpy.frombuffer(base64.b64decode(text), dtype="<f4")


def serve(peer):
    """Answers lines with what peer.open, add, settle and search give. Only
    their own time is counted. What a library prints goes to standard error."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        for line in sys.stdin:
            req, answer = json.loads(line), {}
            for item in req.get("items", ()):
                item["vector"] = vector(item["vector"])
            query = vector(req["vector"]) if "vector" in req else None
            begun, computed = time.perf_counter_ns(), time.process_time_ns()
            try:
                if req["op"] == "open":
                    answer["about"] = peer.open(req["dir"])
                elif req["op"] == "add":
                    peer.add(req["user"], req["items"])
                elif req["op"] == "settle":
                    peer.settle()
                else:
                    answer["ids"] = peer.search(req["user"], req["query"], query, req["k"])
                answer["ns"], answer["cpu"] = time.perf_counter_ns() - begun, time.process_time_ns() - computed
            except Exception as e:
                answer = {"error": f"{type(e).__name__}: {e}"}
            out.write(json.dumps(answer) + "\n")
            out.flush()
    finally:
        peer.close()


class Peer:
    """What a peer need not say."""

    def settle(self):
        pass

    def close(self):
        pass


class Matrix(Peer):
    """A peer whose index is built of all vectors of a user at once, in settle."""

    def __init__(self):
        self.ids, self.vectors, self.built = {}, {}, {}

    def add(self, user, items):
        self.ids.setdefault(user, []).extend(i["id"] for i in items)
        self.vectors.setdefault(user, []).extend(i["vector"] for i in items)

    def settle(self):
        for user, rows in self.vectors.items():
            self.built[user] = self.build(numpy.ascontiguousarray(rows))
        self.vectors.clear()
