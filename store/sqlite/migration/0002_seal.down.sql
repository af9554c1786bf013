-- The program has written the envelopes back as version 0, without a MAC.
ALTER TABLE owners DROP COLUMN state;
