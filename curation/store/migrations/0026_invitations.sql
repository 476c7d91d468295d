-- Links by which people choose their own password. A newer link takes the place of an earlier one, and its row
-- goes when it is used or withdrawn.

CREATE TABLE invitations (
    annotator  TEXT PRIMARY KEY,
    token_hash TEXT NOT NULL,      -- of the token that the link has, the hash
    author     TEXT NOT NULL,      -- the lead who made it: when they are one no more, their links end
    made_at    TIMESTAMP NOT NULL,
    expires    TIMESTAMP NOT NULL
);
