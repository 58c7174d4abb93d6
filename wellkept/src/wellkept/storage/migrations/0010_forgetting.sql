-- What was forgotten for good: keyed digests, never a text.
CREATE TABLE tombstones (
  -- '' where it was forgotten in every source.
  source TEXT NOT NULL,
  claim BLOB NOT NULL,
  first BLOB NOT NULL,
  words INTEGER NOT NULL,
  purge TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (source, claim)
) STRICT, WITHOUT ROWID;

-- A purge that is not at its end, so that whoever opens the file next goes on.
CREATE TABLE purges (
  id TEXT PRIMARY KEY,
  source TEXT NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Tells whether a key is the one that the digests were made with.
CREATE TABLE trust_key (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  proof BLOB NOT NULL
) STRICT;
