# pip: graphiti-core[kuzu]==0.31.2 httpx==0.28.1 numpy==2.4.6
import asyncio
import os
import warnings
from datetime import datetime, timezone

os.environ.update(GRAPHITI_TELEMETRY_ENABLED="false", OPENAI_API_KEY="none", EMBEDDING_DIM="384")
warnings.simplefilter("ignore")

from graphiti_core import Graphiti  # it reads the environment when it is imported
from graphiti_core.driver.kuzu_driver import KuzuDriver
from graphiti_core.edges import EntityEdge
from graphiti_core.embedder.client import EmbedderClient
from graphiti_core.graph_queries import get_fulltext_indices
from graphiti_core.nodes import EntityNode

from protocol import Peer, about, serve


class Given(EmbedderClient):
    """The embedder of Graphiti that gives the vector that came with the question."""

    vector = None

    async def create(self, input_data):
        return self.vector


class Edges(Peer):
    """Without a language model nothing is extracted: each message is put in as
    the fact of an edge, and Graphiti's own search finds it."""

    def open(self, dir):
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)
        self.driver = KuzuDriver(db=dir + "/graph")
        for query in get_fulltext_indices(self.driver.provider):
            self.run(self.driver.execute_query(query))
        self.embedder = Given()
        self.graphiti = Graphiti(graph_driver=self.driver, embedder=self.embedder)
        self.turns, self.nodes = {}, {}
        return about("graphiti-core", "search() with its hybrid of vectors and full text over Kuzu; add_episode needs a language model, "
                     "so each message is an edge's fact, between a node of the user and one of the session", arms="both")

    def run(self, awaitable):
        return self.loop.run_until_complete(awaitable)

    def node(self, group, name):
        if (group, name) not in self.nodes:
            node = EntityNode(name=name, group_id=group, name_embedding=[0.0] * 384)
            self.run(node.save(self.driver))
            self.nodes[group, name] = node.uuid
        return self.nodes[group, name]

    def group(self, user):
        return user.encode().hex()  # its group ids are ASCII

    def add(self, user, items):
        group, now = self.group(user), datetime.now(timezone.utc)
        for i in items:
            edge = EntityEdge(source_node_uuid=self.node(group, "user"), target_node_uuid=self.node(group, i["session"]), group_id=group, name="SAID",
                              created_at=now, fact=i["text"], fact_embedding=i["vector"].tolist())
            self.run(edge.save(self.driver))
            self.turns[edge.uuid] = i["id"]

    def search(self, user, query, v, k):
        self.embedder.vector = v.tolist()
        found = self.run(self.graphiti.search(query, group_ids=[self.group(user)], num_results=k))
        return [self.turns[e.uuid] for e in found]


serve(Edges())
