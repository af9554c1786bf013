DROP TABLE usage;
CREATE TABLE usage (
  tenant    INTEGER NOT NULL,
  day       INTEGER NOT NULL,              -- days since 1970-01-01, UTC
  operation TEXT NOT NULL,
  model     TEXT NOT NULL,
  calls     INTEGER NOT NULL DEFAULT 0,
  tokens_in INTEGER NOT NULL DEFAULT 0,
  tokens_out INTEGER NOT NULL DEFAULT 0,
  cost      REAL NOT NULL DEFAULT 0,       -- in USD
  PRIMARY KEY (tenant, day, operation, model)
) STRICT, WITHOUT ROWID;
