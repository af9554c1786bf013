-- The ledger of model calls and contexts, by path, with what failed, what was
-- estimated and what whole histories would have taken. Nothing wrote the table
-- in its first form.
DROP TABLE usage;
CREATE TABLE usage (
  tenant     INTEGER NOT NULL,
  day        INTEGER NOT NULL,              -- days since 1970-01-01, UTC
  operation  TEXT NOT NULL,
  model      TEXT NOT NULL,
  path       TEXT NOT NULL,
  calls      INTEGER NOT NULL,
  failures   INTEGER NOT NULL,
  tokens_in  INTEGER NOT NULL,
  tokens_out INTEGER NOT NULL,
  estimated  INTEGER NOT NULL,
  history    INTEGER NOT NULL,
  PRIMARY KEY (tenant, day, operation, model, path)
) STRICT, WITHOUT ROWID;
