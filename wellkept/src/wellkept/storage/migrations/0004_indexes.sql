-- The chunks of pages that are no conversations, by themselves: what a turn speaks of is looked for among these alone,
-- and there are few of them beside what was said.
CREATE VIEW written_searched AS
  SELECT c.id, coalesce(c.searched, c.text) AS text FROM pages AS p JOIN chunks AS c ON c.page_id = p.id
  WHERE p.type <> 'conversation';

CREATE VIRTUAL TABLE written_fts USING fts5 (
  text,
  content = 'written_searched',
  content_rowid = 'id',
  tokenize = "porter unicode61 remove_diacritics 2 categories 'L* M* N* Co'"
);

INSERT INTO written_fts (written_fts, rank) VALUES ('secure-delete', 1);
INSERT INTO written_fts (rowid, text) SELECT id, text FROM written_searched ORDER BY id;

-- What each fact says, with who or what it is about, as `said` writes it.
CREATE VIRTUAL TABLE facts_fts USING fts5 (
  said,
  tokenize = "porter unicode61 remove_diacritics 2 categories 'L* M* N* Co'"
);

INSERT INTO facts_fts (facts_fts, rank) VALUES ('secure-delete', 1);
INSERT INTO facts_fts (rowid, said) SELECT id, said(text, mention, entity) FROM facts ORDER BY id;

CREATE INDEX facts_of_session ON facts (source, session_page, status) WHERE session_page IS NOT NULL;
CREATE INDEX facts_told_in ON facts (source, told_slug) WHERE told_slug IS NOT NULL;
CREATE INDEX facts_by_age ON facts (source, status, recorded_at);
CREATE INDEX facts_by_validity ON facts (source, status, valid_from) WHERE valid_from IS NOT NULL;
