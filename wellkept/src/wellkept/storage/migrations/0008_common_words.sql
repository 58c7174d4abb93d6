-- Rises when a chunk is taken out, as its id may come to mean another one: what is known of where words stand holds
-- for the chunks of then until it does.
ALTER TABLE clock ADD COLUMN cleared INTEGER NOT NULL DEFAULT 0;

CREATE TRIGGER chunk_removed AFTER DELETE ON chunks BEGIN
  UPDATE clock SET cleared = cleared + 1;
END;
