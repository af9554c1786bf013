-- Episodes and skills come into use, and count as the other tables do (see
-- 0003_usage): bytes are those of the envelopes of what a person can make more of.

CREATE TRIGGER episodes_added AFTER INSERT ON episodes BEGIN
  UPDATE owners SET bytes = bytes + length(NEW.body) WHERE number = NEW.key >> 40;
END;
CREATE TRIGGER episodes_dropped AFTER DELETE ON episodes BEGIN
  UPDATE owners SET bytes = bytes - length(OLD.body) WHERE number = OLD.key >> 40;
END;
CREATE TRIGGER episodes_resized AFTER UPDATE OF body ON episodes WHEN length(NEW.body) <> length(OLD.body) BEGIN
  UPDATE owners SET bytes = bytes + length(NEW.body) - length(OLD.body) WHERE number = NEW.key >> 40;
END;

CREATE TRIGGER skills_added AFTER INSERT ON skills BEGIN
  UPDATE owners SET bytes = bytes + length(NEW.body) WHERE number = NEW.key >> 40;
END;
CREATE TRIGGER skills_dropped AFTER DELETE ON skills BEGIN
  UPDATE owners SET bytes = bytes - length(OLD.body) WHERE number = OLD.key >> 40;
END;
CREATE TRIGGER skills_resized AFTER UPDATE OF body ON skills WHEN length(NEW.body) <> length(OLD.body) BEGIN
  UPDATE owners SET bytes = bytes + length(NEW.body) - length(OLD.body) WHERE number = NEW.key >> 40;
END;
