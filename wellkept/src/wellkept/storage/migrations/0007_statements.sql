-- What people stated in conversations, sentence by sentence, in their own words: what a prompt brings back is looked
-- for among these alone.
CREATE TABLE statements (
  id INTEGER PRIMARY KEY,
  source TEXT NOT NULL REFERENCES sources (id),
  page_id INTEGER NOT NULL REFERENCES pages (id) ON DELETE CASCADE,
  turn INTEGER NOT NULL,
  at INTEGER,
  text TEXT NOT NULL
) STRICT;

CREATE INDEX statements_of_page ON statements (page_id);
CREATE INDEX statements_of_source ON statements (source);
CREATE INDEX statements_by_age ON statements (source, at);

-- As `said` writes what a fact says; without stems, which do not begin as all forms of their words do.
CREATE VIRTUAL TABLE statements_fts USING fts5 (
  said,
  tokenize = "unicode61 remove_diacritics 2 categories 'L* M* N* Co'",
  prefix = '4 5'
);

INSERT INTO statements_fts (statements_fts, rank) VALUES ('secure-delete', 1);

-- Of conversations kept before there were statements. Who said what is known where some of it is marked as an answer;
-- and what was long enough to be kept in pieces is left out.
INSERT INTO statements (source, page_id, turn, at, text)
  SELECT p.source, p.id, c.turn, min(c.at), stated.value
  FROM pages AS p JOIN chunks AS c ON c.page_id = p.id CROSS JOIN json_each(stated_in(c.text)) AS stated
  WHERE p.type = 'conversation' AND c.turn IS NOT NULL AND c.answer = 0
    AND EXISTS (SELECT 1 FROM chunks AS other WHERE other.page_id = p.id AND other.answer = 1)
    AND (SELECT count(*) FROM chunks AS piece WHERE piece.page_id = p.id AND piece.turn = c.turn) = 1
  GROUP BY p.id, c.turn, stated.key
  ORDER BY c.at, p.id, c.turn, stated.key;
INSERT INTO statements_fts (rowid, said) SELECT id, said(text, NULL, NULL) FROM statements ORDER BY id;
