-- Entities and relations, of which nothing was written before, in another
-- form: an entity is one name and holds nothing else, and a relation belongs to
-- the memory that says it. When it holds, where, and whether it still does
-- stands in the memory alone, and it goes with the memory by its foreign key.
DROP TABLE relations;
DROP TABLE entities;

CREATE TABLE entities (
  key         INTEGER PRIMARY KEY,         -- owner << 40 | counter
  owner       INTEGER NOT NULL REFERENCES owners (number),
  id          TEXT NOT NULL,
  name_mark   BLOB NOT NULL,
  base_mark   BLOB NOT NULL,
  given_mark  BLOB NOT NULL,
  family_mark BLOB NOT NULL,
  body        BLOB NOT NULL,               -- the texts of the marks
  UNIQUE (owner, name_mark),
  UNIQUE (owner, id)
) STRICT;
CREATE INDEX entities_base ON entities (owner, base_mark) WHERE base_mark <> x'';
CREATE INDEX entities_given ON entities (owner, given_mark) WHERE given_mark <> x'';
CREATE INDEX entities_family ON entities (owner, family_mark) WHERE family_mark <> x'';

CREATE TABLE relations (
  key       INTEGER PRIMARY KEY,           -- owner << 40 | counter
  memory    INTEGER NOT NULL REFERENCES memories (key) ON DELETE CASCADE,
  subject   INTEGER NOT NULL REFERENCES entities (key),
  object    INTEGER REFERENCES entities (key),
  type_mark BLOB NOT NULL,
  body      BLOB NOT NULL                  -- type, both ends as they were written, their kinds
) STRICT;
CREATE INDEX relations_memory ON relations (memory);
CREATE INDEX relations_subject ON relations (subject);
CREATE INDEX relations_object ON relations (object) WHERE object IS NOT NULL;
