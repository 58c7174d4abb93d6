-- Which turn of a conversation a chunk is of, counted from 0, and when that was said.
ALTER TABLE chunks ADD COLUMN turn INTEGER;
ALTER TABLE chunks ADD COLUMN at INTEGER;
-- 0 while a chunk waits for its vector, so that what waits survives whatever ends the process.
ALTER TABLE chunks ADD COLUMN embedded INTEGER NOT NULL DEFAULT 0;
CREATE INDEX chunks_to_embed ON chunks (id) WHERE embedded = 0;

-- A page's tick is higher than that of every change before it; a search reads again only what changed since its own.
CREATE TABLE clock (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  tick INTEGER NOT NULL,
  removed INTEGER NOT NULL
) STRICT;

INSERT INTO clock VALUES (1, 0, 0);

ALTER TABLE pages ADD COLUMN tick INTEGER NOT NULL DEFAULT 0;
CREATE INDEX pages_by_tick ON pages (source, tick);

CREATE TRIGGER page_added AFTER INSERT ON pages BEGIN
  UPDATE clock SET tick = tick + 1;
  UPDATE pages SET tick = (SELECT tick FROM clock) WHERE id = new.id;
END;

CREATE TRIGGER page_changed AFTER UPDATE OF title, type, status, trust, updated_at ON pages BEGIN
  UPDATE clock SET tick = tick + 1;
  UPDATE pages SET tick = (SELECT tick FROM clock) WHERE id = new.id;
END;

CREATE TRIGGER page_removed AFTER DELETE ON pages BEGIN
  UPDATE clock SET removed = removed + 1;
END;

CREATE TABLE embedders (
  id INTEGER PRIMARY KEY,
  model TEXT NOT NULL UNIQUE,
  dimension INTEGER NOT NULL
) STRICT;

CREATE TABLE vectors (
  chunk_id INTEGER PRIMARY KEY REFERENCES chunks (id) ON DELETE CASCADE,
  embedder INTEGER NOT NULL REFERENCES embedders (id),
  vector BLOB NOT NULL
) STRICT;

-- The signs of each vector, apart from it, so that they are read without it.
CREATE TABLE vector_signs (
  chunk_id INTEGER PRIMARY KEY REFERENCES vectors (chunk_id) ON DELETE CASCADE,
  signs BLOB NOT NULL
) STRICT;
