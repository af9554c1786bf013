-- What the rows take is no longer counted.
UPDATE owners SET bytes = bytes
  - (SELECT coalesce(sum(length(body)), 0) FROM episodes WHERE key BETWEEN number << 40 AND (number << 40 | 1099511627775))
  - (SELECT coalesce(sum(length(body)), 0) FROM skills WHERE key BETWEEN number << 40 AND (number << 40 | 1099511627775));
DROP TRIGGER episodes_added;
DROP TRIGGER episodes_dropped;
DROP TRIGGER episodes_resized;
DROP TRIGGER skills_added;
DROP TRIGGER skills_dropped;
DROP TRIGGER skills_resized;
