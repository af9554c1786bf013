-- How much of the store an owner has, and how many owners a tenant has, so that
-- a quota costs the same however much there is. Triggers count: a row is
-- written and deleted in many places, by cascades too, and forgotten nowhere.
-- bytes are those of the envelopes of what a person can make more of. What goes
-- by itself (snapshots, records, jobs) and what must stay (tombstones,
-- suppressions, receipts) is not counted.

ALTER TABLE owners ADD COLUMN messages INTEGER NOT NULL DEFAULT 0;
ALTER TABLE owners ADD COLUMN memories INTEGER NOT NULL DEFAULT 0;
ALTER TABLE owners ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;

-- The tenant's number; NULL in owners that are older than this column, until
-- the store is opened: their tenant stands in the envelope only.
ALTER TABLE owners ADD COLUMN tenant INTEGER;
CREATE INDEX owners_tenantless ON owners (number) WHERE tenant IS NULL;
ALTER TABLE tenants ADD COLUMN owners INTEGER NOT NULL DEFAULT 0;

UPDATE owners SET
  messages = (SELECT count(*) FROM messages WHERE key BETWEEN number << 40 AND (number << 40 | 1099511627775)),
  memories = (SELECT count(*) FROM memories WHERE key BETWEEN number << 40 AND (number << 40 | 1099511627775)),
  bytes =
    (SELECT coalesce(sum(length(body)), 0) FROM sessions WHERE key BETWEEN number << 40 AND (number << 40 | 1099511627775)) +
    (SELECT coalesce(sum(length(body)), 0) FROM messages WHERE key BETWEEN number << 40 AND (number << 40 | 1099511627775)) +
    (SELECT coalesce(sum(length(body)), 0) FROM tasks WHERE key BETWEEN number << 40 AND (number << 40 | 1099511627775)) +
    (SELECT coalesce(sum(length(body)), 0) FROM memories WHERE key BETWEEN number << 40 AND (number << 40 | 1099511627775)) +
    (SELECT coalesce(sum(length(body)), 0) FROM facts WHERE key BETWEEN number << 40 AND (number << 40 | 1099511627775)) +
    (SELECT coalesce(sum(length(body)), 0) FROM versions WHERE key BETWEEN number << 40 AND (number << 40 | 1099511627775)) +
    (SELECT coalesce(sum(length(body)), 0) FROM working WHERE owner = number);

CREATE TRIGGER owners_added AFTER INSERT ON owners WHEN NEW.tenant IS NOT NULL BEGIN
  UPDATE tenants SET owners = owners + 1 WHERE number = NEW.tenant;
END;
CREATE TRIGGER owners_known AFTER UPDATE OF tenant ON owners WHEN OLD.tenant IS NULL BEGIN
  UPDATE tenants SET owners = owners + 1 WHERE number = NEW.tenant;
END;

CREATE TRIGGER messages_added AFTER INSERT ON messages BEGIN
  UPDATE owners SET messages = messages + 1, bytes = bytes + length(NEW.body) WHERE number = NEW.key >> 40;
END;
CREATE TRIGGER messages_dropped AFTER DELETE ON messages BEGIN
  UPDATE owners SET messages = messages - 1, bytes = bytes - length(OLD.body) WHERE number = OLD.key >> 40;
END;

CREATE TRIGGER memories_added AFTER INSERT ON memories BEGIN
  UPDATE owners SET memories = memories + 1, bytes = bytes + length(NEW.body) WHERE number = NEW.key >> 40;
END;
CREATE TRIGGER memories_dropped AFTER DELETE ON memories BEGIN
  UPDATE owners SET memories = memories - 1, bytes = bytes - length(OLD.body) WHERE number = OLD.key >> 40;
END;
CREATE TRIGGER memories_resized AFTER UPDATE OF body ON memories WHEN coalesce(length(NEW.body), 0) <> coalesce(length(OLD.body), 0) BEGIN
  UPDATE owners SET bytes = bytes + coalesce(length(NEW.body), 0) - coalesce(length(OLD.body), 0) WHERE number = NEW.key >> 40;
END;

CREATE TRIGGER sessions_added AFTER INSERT ON sessions BEGIN
  UPDATE owners SET bytes = bytes + coalesce(length(NEW.body), 0) WHERE number = NEW.key >> 40;
END;
CREATE TRIGGER sessions_dropped AFTER DELETE ON sessions BEGIN
  UPDATE owners SET bytes = bytes - coalesce(length(OLD.body), 0) WHERE number = OLD.key >> 40;
END;
CREATE TRIGGER sessions_resized AFTER UPDATE OF body ON sessions WHEN coalesce(length(NEW.body), 0) <> coalesce(length(OLD.body), 0) BEGIN
  UPDATE owners SET bytes = bytes + coalesce(length(NEW.body), 0) - coalesce(length(OLD.body), 0) WHERE number = NEW.key >> 40;
END;

CREATE TRIGGER tasks_added AFTER INSERT ON tasks BEGIN
  UPDATE owners SET bytes = bytes + coalesce(length(NEW.body), 0) WHERE number = NEW.key >> 40;
END;
CREATE TRIGGER tasks_dropped AFTER DELETE ON tasks BEGIN
  UPDATE owners SET bytes = bytes - coalesce(length(OLD.body), 0) WHERE number = OLD.key >> 40;
END;
CREATE TRIGGER tasks_resized AFTER UPDATE OF body ON tasks WHEN coalesce(length(NEW.body), 0) <> coalesce(length(OLD.body), 0) BEGIN
  UPDATE owners SET bytes = bytes + coalesce(length(NEW.body), 0) - coalesce(length(OLD.body), 0) WHERE number = NEW.key >> 40;
END;

CREATE TRIGGER facts_added AFTER INSERT ON facts BEGIN
  UPDATE owners SET bytes = bytes + coalesce(length(NEW.body), 0) WHERE number = NEW.key >> 40;
END;
CREATE TRIGGER facts_dropped AFTER DELETE ON facts BEGIN
  UPDATE owners SET bytes = bytes - coalesce(length(OLD.body), 0) WHERE number = OLD.key >> 40;
END;
CREATE TRIGGER facts_resized AFTER UPDATE OF body ON facts WHEN coalesce(length(NEW.body), 0) <> coalesce(length(OLD.body), 0) BEGIN
  UPDATE owners SET bytes = bytes + coalesce(length(NEW.body), 0) - coalesce(length(OLD.body), 0) WHERE number = NEW.key >> 40;
END;

CREATE TRIGGER versions_added AFTER INSERT ON versions BEGIN
  UPDATE owners SET bytes = bytes + coalesce(length(NEW.body), 0) WHERE number = NEW.key >> 40;
END;
CREATE TRIGGER versions_dropped AFTER DELETE ON versions BEGIN
  UPDATE owners SET bytes = bytes - coalesce(length(OLD.body), 0) WHERE number = OLD.key >> 40;
END;

CREATE TRIGGER working_added AFTER INSERT ON working BEGIN
  UPDATE owners SET bytes = bytes + coalesce(length(NEW.body), 0) WHERE number = NEW.owner;
END;
CREATE TRIGGER working_dropped AFTER DELETE ON working BEGIN
  UPDATE owners SET bytes = bytes - coalesce(length(OLD.body), 0) WHERE number = OLD.owner;
END;
CREATE TRIGGER working_resized AFTER UPDATE OF body ON working WHEN coalesce(length(NEW.body), 0) <> coalesce(length(OLD.body), 0) BEGIN
  UPDATE owners SET bytes = bytes + coalesce(length(NEW.body), 0) - coalesce(length(OLD.body), 0) WHERE number = NEW.owner;
END;
