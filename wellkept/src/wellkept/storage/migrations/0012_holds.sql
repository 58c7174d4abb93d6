-- What was written and is held back until its owner has looked at it. Nothing else reads the texts.
CREATE TABLE holds (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  source TEXT NOT NULL REFERENCES sources (id),
  at INTEGER NOT NULL,
  channel TEXT NOT NULL,
  principal TEXT NOT NULL,
  kind TEXT NOT NULL,
  -- What is to be written, as JSON: the arguments of the call that wrote it.
  request TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  flags TEXT NOT NULL
) STRICT;
CREATE INDEX holds_of_source ON holds (source, id);

-- How strict the gate is: set at a terminal, and only ever made stricter by files.
CREATE TABLE modes (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What a writer wrote last.
CREATE INDEX journal_of_writer ON journal (source, actor, seq) WHERE actor IS NOT NULL;
