DROP TABLE relations;
DROP TABLE entities;
CREATE TABLE entities (
  key        INTEGER PRIMARY KEY,
  owner      INTEGER NOT NULL REFERENCES owners (number),
  kind       TEXT NOT NULL,
  name_mark  BLOB NOT NULL,
  epoch      INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  body       BLOB NOT NULL                 -- name, aliases
) STRICT;
CREATE INDEX entities_name ON entities (owner, name_mark);
CREATE TABLE relations (
  key         INTEGER PRIMARY KEY,
  owner       INTEGER NOT NULL REFERENCES owners (number),
  subject     INTEGER NOT NULL REFERENCES entities (key) ON DELETE CASCADE,
  object      INTEGER REFERENCES entities (key) ON DELETE CASCADE,
  type_mark   BLOB NOT NULL,
  valid_from  INTEGER,
  valid_to    INTEGER,
  recorded_at INTEGER NOT NULL,
  epoch       INTEGER NOT NULL,
  body        BLOB NOT NULL
) STRICT;
CREATE INDEX relations_subject ON relations (subject);
CREATE INDEX relations_object ON relations (object);
