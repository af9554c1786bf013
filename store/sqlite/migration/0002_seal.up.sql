-- Every envelope gets a MAC (version 1), written by the program in the same
-- transaction (reseal.go). Where an owner stands (epoch, seq, counter,
-- withdrawn_at) had no envelope: state is an empty one that covers them.
ALTER TABLE owners ADD COLUMN state BLOB;
