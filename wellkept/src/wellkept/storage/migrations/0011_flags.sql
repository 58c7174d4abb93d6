-- What was noticed of a text when it was written: words with a space between.
ALTER TABLE pages ADD COLUMN flags TEXT NOT NULL DEFAULT '';
ALTER TABLE facts ADD COLUMN flags TEXT NOT NULL DEFAULT '';
