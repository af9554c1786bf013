-- A tenant's owners are those of whom something is stored that a person can
-- make more of. What stays of one who was forgotten whole (the row with its
-- epoch, tombstones, suppressions, receipts) takes no place, so that a tenant
-- that makes and forgets owners again and again does not come to its quota.
DROP TRIGGER owners_added;
DROP TRIGGER owners_known;

UPDATE tenants SET owners = (SELECT count(*) FROM owners o WHERE o.tenant = tenants.number AND max(o.messages, o.memories, o.bytes) > 0);

CREATE TRIGGER owners_came AFTER UPDATE OF messages, memories, bytes, tenant ON owners
WHEN max(NEW.messages, NEW.memories, NEW.bytes) > 0 AND (OLD.tenant IS NULL OR max(OLD.messages, OLD.memories, OLD.bytes) = 0) BEGIN
  UPDATE tenants SET owners = owners + 1 WHERE number = NEW.tenant;
END;
CREATE TRIGGER owners_went AFTER UPDATE OF messages, memories, bytes ON owners
WHEN max(NEW.messages, NEW.memories, NEW.bytes) = 0 AND max(OLD.messages, OLD.memories, OLD.bytes) > 0 BEGIN
  UPDATE tenants SET owners = owners - 1 WHERE number = NEW.tenant;
END;
