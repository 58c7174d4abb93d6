-- What was forgotten for good: keyed digests, never a text.
CREATE TABLE tombstones (
  source TEXT NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  claim BLOB NOT NULL,
  first BLOB NOT NULL,
  words INTEGER NOT NULL,
  purge TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (source, claim)
) STRICT, WITHOUT ROWID;

-- A purge that is not at its end. It holds counts and no text, so that whoever opens the file next can go on.
CREATE TABLE purges (
  id TEXT PRIMARY KEY,
  source TEXT NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  counts TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Tells whether a key is the one that the digests were made with.
CREATE TABLE trust_key (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  proof BLOB NOT NULL
) STRICT;
