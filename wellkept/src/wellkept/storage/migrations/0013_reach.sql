-- Which of the statements that hold a word may come back: told by their source and their page, without reading them.
CREATE INDEX statements_placed ON statements (id, source, page_id);
CREATE INDEX pages_in_reach ON pages (id, status, trust);
