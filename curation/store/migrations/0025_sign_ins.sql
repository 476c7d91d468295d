-- Open sign-ins to the app: who ends one deletes its row. An address belongs to the account of the identity
-- provider that brings it first.

CREATE TABLE sign_ins (
    sign_in_id TEXT PRIMARY KEY,   -- of the key that the cookie has, the hash
    annotator  TEXT NOT NULL,
    email      TEXT,               -- that a provider confirmed; NULL: it was by password
    device     TEXT NOT NULL,      -- browser and system
    network    TEXT NOT NULL,      -- of the address that it was made from
    since      TIMESTAMP NOT NULL,
    last_used  TIMESTAMP NOT NULL, -- to five minutes
    expires    TIMESTAMP NOT NULL
);
ALTER TABLE identities ADD COLUMN issuer TEXT;   -- `iss` and `sub` of who brought it first; NULL: nobody has
ALTER TABLE identities ADD COLUMN subject TEXT;
