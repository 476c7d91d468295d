-- What happened that a lead asked to hear of, and each attempt to send it, stored before it is made.

CREATE TABLE notices (
    notice_id TEXT PRIMARY KEY,    -- 'round ID', 'disputes DAY', 'quarter NAME' or 'job ID'
    text      TEXT NOT NULL        -- '' where it happened before anybody wanted to hear of it: never sent
);
CREATE TABLE notice_attempts (
    notice_id TEXT NOT NULL,
    channel   TEXT NOT NULL,       -- 'e-mail' or 'webhook'
    attempt   INTEGER NOT NULL,    -- from 1
    began_at  TIMESTAMP NOT NULL,
    PRIMARY KEY (notice_id, channel, attempt)
);
CREATE TABLE notice_outcomes (     -- none: the process ended meanwhile, and whether it was sent is unknown
    notice_id TEXT NOT NULL,
    channel   TEXT NOT NULL,
    attempt   INTEGER NOT NULL,
    problem   TEXT NOT NULL,       -- '' where it was sent
    again     BOOLEAN NOT NULL,    -- whether another attempt may help
    PRIMARY KEY (notice_id, channel, attempt)
);
