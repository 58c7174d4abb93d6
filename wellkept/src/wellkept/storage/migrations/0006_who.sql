-- Who gave an item its standing: owner, agent or external. NULL where nobody said, as before this step.
ALTER TABLE journal ADD COLUMN actor TEXT;
