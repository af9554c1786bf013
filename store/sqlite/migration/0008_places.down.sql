-- Every owner counts again.
DROP TRIGGER owners_came;
DROP TRIGGER owners_went;
UPDATE tenants SET owners = (SELECT count(*) FROM owners o WHERE o.tenant = tenants.number);
CREATE TRIGGER owners_added AFTER INSERT ON owners WHEN NEW.tenant IS NOT NULL BEGIN
  UPDATE tenants SET owners = owners + 1 WHERE number = NEW.tenant;
END;
CREATE TRIGGER owners_known AFTER UPDATE OF tenant ON owners WHEN OLD.tenant IS NULL BEGIN
  UPDATE tenants SET owners = owners + 1 WHERE number = NEW.tenant;
END;
