-- What a fact says of its entity (`attribute`), the fact whose place it takes or would take, and until when it was said
-- to be so before somebody ended it.
ALTER TABLE facts ADD COLUMN attribute TEXT;
ALTER TABLE facts ADD COLUMN replaces INTEGER;
ALTER TABLE facts ADD COLUMN told_until INTEGER;
UPDATE facts SET told_until = valid_until WHERE expired_at IS NOT NULL;

CREATE INDEX facts_of_slot ON facts (source, attribute) WHERE attribute IS NOT NULL;
CREATE INDEX facts_not_open ON facts (source) WHERE status <> 'active' OR valid_until IS NOT NULL;

-- A value that is true again is a fact of its own: only of those without an attribute and an end is there but one.
DROP INDEX facts_identity;
CREATE UNIQUE INDEX facts_identity ON facts (source, ifnull(session_page, ''), text_hash, ifnull(entity, ''))
  WHERE status = 'active' AND attribute IS NULL AND valid_until IS NULL;
