-- The words of facts, so that a turn can be led to a page by what was said about it.
CREATE VIRTUAL TABLE facts_fts USING fts5 (
  text,
  tokenize = "porter unicode61 remove_diacritics 2 categories 'L* M* N* Co'"
);

INSERT INTO facts_fts (facts_fts, rank) VALUES ('secure-delete', 1);

-- Facts written before are indexed as they are: in scripts without spaces they are found when they are told again.
INSERT INTO facts_fts (rowid, text) SELECT id, text FROM facts;

CREATE TRIGGER fact_gone AFTER DELETE ON facts BEGIN
  DELETE FROM facts_fts WHERE rowid = old.id;
END;
