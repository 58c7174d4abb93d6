-- Facts have vectors as chunks have them: 0 while one waits for its own.
ALTER TABLE facts ADD COLUMN embedded INTEGER NOT NULL DEFAULT 0;
CREATE INDEX facts_to_embed ON facts (id) WHERE embedded = 0;

CREATE TABLE fact_vectors (
  fact_id INTEGER PRIMARY KEY REFERENCES facts (id) ON DELETE CASCADE,
  embedder INTEGER NOT NULL REFERENCES embedders (id),
  vector BLOB NOT NULL
) STRICT;

-- AUTOINCREMENT: a search reads only those that were added since its last look.
CREATE TABLE fact_signs (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  fact_id INTEGER NOT NULL UNIQUE REFERENCES fact_vectors (fact_id) ON DELETE CASCADE,
  signs BLOB NOT NULL
) STRICT;
