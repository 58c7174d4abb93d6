-- What tells whether a row was changed from outside: its seal, made with a key that is not in this file. `key` is that
-- of the row in its table and source; `parts` a digest of the rows of other tables that belong to it; `rev` which
-- sealing write it was.
CREATE TABLE seals (
  tbl TEXT NOT NULL,
  source TEXT NOT NULL,
  key ANY NOT NULL,
  rev INTEGER NOT NULL,
  parts BLOB,
  seal BLOB NOT NULL,
  PRIMARY KEY (tbl, source, key)
) STRICT, WITHOUT ROWID;

-- How many rows of a table and source are sealed, the newest `rev` and the sum of what their seals hash to: rows that
-- were added, taken out or put back show. The one of table 'heads' is that of the heads themselves.
CREATE TABLE heads (
  tbl TEXT NOT NULL,
  source TEXT NOT NULL,
  count INTEGER NOT NULL,
  rev INTEGER NOT NULL,
  total BLOB NOT NULL,
  seal BLOB NOT NULL,
  PRIMARY KEY (tbl, source)
) STRICT, WITHOUT ROWID;

-- Seals are those of one key: without it they say nothing.
CREATE TRIGGER trust_key_removed AFTER DELETE ON trust_key BEGIN
  DELETE FROM seals;
  DELETE FROM heads;
END;
