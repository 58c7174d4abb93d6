-- A folder of notes that its owner bound to a source, at a terminal.
CREATE TABLE folders (
  name TEXT PRIMARY KEY,
  source TEXT NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  path TEXT NOT NULL UNIQUE,
  -- Whose signatures commits need: NULL nobody's, '' those of the owner's keyring, else a file of allowed signers.
  signers TEXT,
  -- Where its history stood when it was last read.
  head TEXT,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What a sync made of the files of a folder.
CREATE TABLE folder_files (
  folder TEXT NOT NULL REFERENCES folders (name) ON DELETE CASCADE,
  path TEXT NOT NULL,
  slug TEXT NOT NULL,
  -- Of the page as it was kept; NULL where that is to be looked at anew.
  digest BLOB,
  -- kept; gone: its page ended with it; going: its page was forgotten for good, and it is still there.
  standing TEXT NOT NULL CHECK (standing IN ('kept', 'gone', 'going')),
  PRIMARY KEY (folder, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX folder_files_of_page ON folder_files (slug);

-- How far a list of another service was read.
CREATE TABLE cursors (
  source TEXT NOT NULL REFERENCES sources (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  at INTEGER,
  etag TEXT,
  PRIMARY KEY (source, name)
) STRICT, WITHOUT ROWID;
