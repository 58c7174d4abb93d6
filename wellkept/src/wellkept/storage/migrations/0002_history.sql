-- What changed, when and why; what was said about a page's origin; who said that an item was of use.

ALTER TABLE pages ADD COLUMN created_at INTEGER;
ALTER TABLE pages ADD COLUMN valid_at INTEGER;
ALTER TABLE pages ADD COLUMN content_origin TEXT;
ALTER TABLE pages ADD COLUMN source_id TEXT;
ALTER TABLE pages ADD COLUMN url TEXT;
ALTER TABLE pages ADD COLUMN metadata TEXT;
UPDATE pages SET created_at = updated_at;
CREATE INDEX pages_by_source_id ON pages (source, source_id) WHERE source_id IS NOT NULL;

ALTER TABLE facts ADD COLUMN content_origin TEXT;
ALTER TABLE facts ADD COLUMN ended_because TEXT;

-- A claim that was ended may be told again as a fact of its own: only active ones are unique.
DROP INDEX facts_identity;
CREATE UNIQUE INDEX facts_identity ON facts (source, ifnull(session_page, ''), text_hash, ifnull(entity, ''))
  WHERE status = 'active';
CREATE INDEX facts_told_before ON facts (source, text_hash);

-- Only ever added to. `item` is a slug or the number of a fact; `before` is the text that a change replaced.
CREATE TABLE journal (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  source TEXT NOT NULL,
  kind TEXT NOT NULL,
  item TEXT NOT NULL,
  change TEXT NOT NULL,
  because TEXT NOT NULL,
  trust INTEGER NOT NULL,
  at INTEGER,
  before TEXT
) STRICT;
CREATE INDEX journal_of_item ON journal (source, kind, item);

INSERT INTO journal (source, kind, item, change, because, trust, at)
  SELECT source, 'page', slug, 'created', '', trust, updated_at FROM pages ORDER BY id;
INSERT INTO journal (source, kind, item, change, because, trust, at)
  SELECT source, 'fact', id, 'created', '', trust, recorded_at FROM facts ORDER BY id;

-- One row a signal: the key is a digest of who said what about which item where, so that a replay adds nothing.
CREATE TABLE uses (
  key BLOB PRIMARY KEY,
  source TEXT NOT NULL REFERENCES sources (id),
  kind TEXT NOT NULL,
  item TEXT NOT NULL,
  signal TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX uses_of_item ON uses (source, kind, item, signal, at);

-- What was answered to a request that carried a key of its own, so that the same request again changes nothing.
CREATE TABLE replies (
  source TEXT NOT NULL,
  caller TEXT NOT NULL,
  key TEXT NOT NULL,
  digest BLOB NOT NULL,
  reply TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (source, caller, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX replies_by_age ON replies (at);
