-- 1 where the assistant says it: what people ask about themselves stands in what they said.
ALTER TABLE chunks ADD COLUMN answer INTEGER NOT NULL DEFAULT 0;
