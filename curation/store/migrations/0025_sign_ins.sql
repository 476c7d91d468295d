-- Open sign-ins, one row each: who ends one deletes it. The cookie has its key, and this the key's hash alone. An
-- address belongs to the account of the identity provider that brought it first.

CREATE TABLE sign_ins (
    sign_in_id TEXT PRIMARY KEY,
    annotator  TEXT NOT NULL,
    email      TEXT,
    device     TEXT NOT NULL,
    network    TEXT NOT NULL,
    since      TIMESTAMP NOT NULL,
    last_used  TIMESTAMP NOT NULL,
    expires    TIMESTAMP NOT NULL
);
ALTER TABLE identities ADD COLUMN issuer TEXT;
ALTER TABLE identities ADD COLUMN subject TEXT;
