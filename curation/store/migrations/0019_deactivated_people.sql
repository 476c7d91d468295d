-- People who leave: they cannot sign in any more, and their judgments remain.

ALTER TABLE annotators ADD COLUMN deactivated_at TIMESTAMP;
