-- Times are whole microseconds since 1970-01-01 UTC. Text compares by bytes, which for UTF-8 is code point order.

CREATE TABLE sources (
  id TEXT PRIMARY KEY,
  owner TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE pages (
  id INTEGER PRIMARY KEY,
  source TEXT NOT NULL REFERENCES sources (id),
  slug TEXT NOT NULL,
  title TEXT NOT NULL,
  type TEXT NOT NULL,
  status TEXT NOT NULL,
  trust INTEGER NOT NULL,
  superseded_by TEXT,
  updated_at INTEGER,
  chunk_count INTEGER NOT NULL,
  chunk_chars INTEGER NOT NULL,
  aliases TEXT NOT NULL,
  summary TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX pages_by_slug ON pages (source, slug);
CREATE INDEX pages_sizes ON pages (source, status, chunk_count, chunk_chars);

-- Apart from the pages, so that a search over thousands of them reads few blocks of the file.
CREATE TABLE page_texts (
  page_id INTEGER PRIMARY KEY REFERENCES pages (id) ON DELETE CASCADE,
  body_start TEXT NOT NULL,
  body TEXT NOT NULL,
  content TEXT NOT NULL
) STRICT;

CREATE TABLE names (
  source TEXT NOT NULL,
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  page_id INTEGER NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
  PRIMARY KEY (source, kind, key, page_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX names_of_page ON names (page_id);

CREATE TABLE timeline (
  page_id INTEGER NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  date TEXT NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (page_id, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE chunks (
  id INTEGER PRIMARY KEY,
  page_id INTEGER NOT NULL REFERENCES pages (id),
  ordinal INTEGER NOT NULL,
  chars INTEGER NOT NULL,
  text TEXT NOT NULL,
  -- The text as the index sees it, where that differs from the text.
  searched TEXT
) STRICT;

CREATE UNIQUE INDEX chunks_of_page ON chunks (page_id, ordinal);

CREATE VIEW chunks_searched AS SELECT id, coalesce(searched, text) AS text FROM chunks;

CREATE VIRTUAL TABLE chunks_fts USING fts5 (
  text,
  content = 'chunks_searched',
  content_rowid = 'id',
  tokenize = "porter unicode61 remove_diacritics 2 categories 'L* M* N* Co'"
);

INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('secure-delete', 1);

-- AUTOINCREMENT: the id of a fact that is gone must never come to mean another fact.
CREATE TABLE facts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  source TEXT NOT NULL REFERENCES sources (id),
  session_page TEXT,
  text_hash BLOB NOT NULL,
  entity TEXT,
  mention TEXT,
  kind TEXT NOT NULL,
  confidence REAL NOT NULL,
  trust INTEGER NOT NULL,
  status TEXT NOT NULL,
  valid_from INTEGER,
  valid_until INTEGER,
  recorded_at INTEGER NOT NULL,
  expired_at INTEGER,
  superseded_by INTEGER,
  told_by TEXT NOT NULL,
  told_in TEXT,
  told_slug TEXT,
  event_id TEXT,
  quote_start INTEGER,
  quote_end INTEGER,
  text TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX facts_identity ON facts (source, ifnull(session_page, ''), text_hash, ifnull(entity, ''))
  WHERE status IN ('active', 'expired');
CREATE INDEX facts_of_entity ON facts (source, status, entity);
