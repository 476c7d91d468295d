-- A goldgrade project as it was first kept: the form 0023. migrations/ adds to it, in new projects as in older
-- ones, so that no table is written down twice. Times are UTC. Hashes are the first 32 hex digits of a SHA-256.
-- Tables are appended to; what changes (a grade, a decision, a password) is a new row with a higher
-- revision, and the current value is a view. No foreign keys and no secondary indexes: DuckDB checks
-- the former wrongly on updates and pays for the latter on each append.

-- ── The project ─────────────────────────────────────────────────────────────────────────────────

-- Named values of the project: 'guide' (hash of the guide in force), 'corpus' (current snapshot),
-- 'sample' (current sample), 'split' (current split), 'cookie_key' (secret that signs sign-ins),
-- 'session_key' (secret that hashes the sessions of logs; in no export).
CREATE TABLE settings (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

-- Audit: who did what, when. Written in the same transaction as the deed.
CREATE TABLE events (
    happened_at TIMESTAMP NOT NULL,
    actor       TEXT NOT NULL,     -- an annotator's name, or 'command line'
    action      TEXT NOT NULL,     -- 'init', 'import corpus', 'freeze', …
    detail      JSON NOT NULL      -- parameters and counts
);

-- Labeling guides by hash of their whole text. The scale is a list of {value, name, key, colour, definition}.
CREATE TABLE guides (
    guide_hash TEXT PRIMARY KEY,
    title      TEXT NOT NULL,
    scale      JSON NOT NULL,
    body       TEXT NOT NULL,      -- Markdown that annotators read
    added_at   TIMESTAMP NOT NULL
);

-- The whole text of a guide, from which its hash is; none where it was stored before 0021.
CREATE TABLE guide_sources (
    guide_hash TEXT PRIMARY KEY,
    source     TEXT NOT NULL
);

-- What a lead is writing: the next guide, appended at each save. No text: put in force, or discarded.
CREATE TABLE guide_drafts (
    author       TEXT NOT NULL,
    revision     INTEGER NOT NULL,
    source       TEXT,
    started_from TEXT NOT NULL,    -- the guide that was in force when the draft was begun
    saved_at     TIMESTAMP NOT NULL,
    UNIQUE (author, revision)
);

-- How documents are drawn under a guide, from its front matter; none where they are plain text.
CREATE TABLE guide_templates (
    guide_hash TEXT PRIMARY KEY,
    template   JSON NOT NULL
);

-- ── Sources ─────────────────────────────────────────────────────────────────────────────────────

-- One version of one document: the hash covers id and all fields, so a changed document is a new row.
CREATE TABLE documents (
    content_hash TEXT PRIMARY KEY,
    document_id  TEXT NOT NULL,
    title        TEXT NOT NULL,    -- '' where there is none
    body         TEXT NOT NULL,
    url          TEXT,
    published    TEXT,             -- the date as the source wrote it
    group_key    TEXT,             -- product line, project, version …: documents that belong together
    metadata     JSON NOT NULL     -- all other fields of the source
);

-- A set of document versions; its id is the hash of its sorted (document id, content hash) pairs.
CREATE TABLE corpus_snapshots (
    snapshot_id TEXT PRIMARY KEY,
    documents   INTEGER NOT NULL,
    source      TEXT NOT NULL,     -- file name, without its folder
    imported_at TIMESTAMP NOT NULL
);
CREATE TABLE snapshot_documents (
    snapshot_id  TEXT NOT NULL,
    document_id  TEXT NOT NULL,
    content_hash TEXT NOT NULL
);

-- Raw logged queries. An import is known by the hash of its file and mapping: a second one adds nothing.
CREATE TABLE traffic_imports (
    import_id   TEXT PRIMARY KEY,
    source      TEXT NOT NULL,
    rows        INTEGER NOT NULL,
    left_out    JSON NOT NULL,     -- reason → number of rows
    imported_at TIMESTAMP NOT NULL
);
CREATE TABLE traffic_personal_data ( -- in how many rows of the log it was found; none of it is stored
    import_id TEXT NOT NULL,
    kind      TEXT NOT NULL,       -- 'email', 'card', 'national id: US SSN', …
    rows      BIGINT NOT NULL
);
CREATE TABLE traffic (
    import_id  TEXT NOT NULL,
    line       BIGINT NOT NULL,    -- line or record number in the source
    text       TEXT NOT NULL,
    normalised TEXT NOT NULL,      -- NFKC, casefolded, white space folded: what makes two queries one
    time       TIMESTAMP,
    segment    TEXT,
    session    TEXT,               -- HMAC of the log's session or user, by the project's session_key
    count      BIGINT NOT NULL CHECK (count > 0),
    metadata   JSON                -- further fields of the log that were asked for: name → text
);

-- ── Queries and pools ───────────────────────────────────────────────────────────────────────────

-- Queries that will be judged.
CREATE TABLE queries (
    query_id         TEXT PRIMARY KEY,  -- the source's id, or 'q' and a hash of the normalised text
    text             TEXT NOT NULL,
    normalised       TEXT NOT NULL,
    source           TEXT NOT NULL CHECK (source IN ('traffic', 'imported', 'written', 'synthetic')),
    information_need TEXT,
    metadata         JSON NOT NULL
);

-- What kind a query is. A rule or a person says that a tag is there or not, each as often as need be; the
-- highest revision by a person counts, or without one the highest by a rule.
CREATE TABLE query_tags (
    query_id  TEXT NOT NULL,
    tag       TEXT NOT NULL,       -- 'question', 'unanswerable', …
    revision  INTEGER NOT NULL,
    present   BOOLEAN NOT NULL,
    by_person BOOLEAN NOT NULL,
    author    TEXT NOT NULL,       -- who it was, or the rule's version
    tagged_at TIMESTAMP NOT NULL,
    PRIMARY KEY (query_id, tag, revision)
);
CREATE VIEW current_query_tags AS
SELECT query_id, tag, by_person, author FROM (
    SELECT * FROM query_tags
    QUALIFY row_number() OVER (PARTITION BY query_id, tag ORDER BY by_person DESC, revision DESC) = 1)
WHERE present;

-- The answers that a system may give to a query: any of them is right. The highest revision counts.
CREATE TABLE reference_answers (
    query_id    TEXT NOT NULL,
    revision    INTEGER NOT NULL CHECK (revision >= 0),
    answers     TEXT[] NOT NULL,   -- each once; none: there are no references any more
    source      TEXT NOT NULL,     -- file name, without its folder; or 'people', who wrote them in the app
    answered_at TIMESTAMP NOT NULL,
    PRIMARY KEY (query_id, revision)
);
CREATE VIEW current_reference_answers AS
SELECT * FROM (
    SELECT * FROM reference_answers
    QUALIFY row_number() OVER (PARTITION BY query_id ORDER BY revision DESC) = 1)
WHERE len(answers) > 0;

-- A draw from traffic, and how likely each of its queries was to be drawn.
CREATE TABLE samples (
    sample_id  TEXT PRIMARY KEY,
    parameters JSON NOT NULL,      -- size, seed, design, strata, allocation, quotas, bands, limits
    report     JSON NOT NULL,      -- per stratum: population, traffic, drawn, probability
    drawn_at   TIMESTAMP NOT NULL
);
CREATE TABLE sample_queries (
    sample_id             TEXT NOT NULL,
    query_id              TEXT NOT NULL,
    stratum               TEXT NOT NULL,   -- 'head', or crossed: 'head · shop · short'
    traffic               BIGINT NOT NULL, -- times it was asked
    inclusion_probability DOUBLE NOT NULL CHECK (inclusion_probability > 0 AND inclusion_probability <= 1)
);
CREATE TABLE sample_logs (                 -- the logs that the project had when the sample was drawn
    sample_id TEXT NOT NULL,
    import_id TEXT NOT NULL
);

-- Embeddings by model and hash of the embedded text: computed once, whatever pool or snapshot asks.
CREATE TABLE embeddings (
    model     TEXT NOT NULL,
    text_hash TEXT NOT NULL,
    vector    FLOAT[] NOT NULL
);

-- Where documents that are longer than a model's window are cut into passages: once for a text.
CREATE TABLE passages (
    cutter    TEXT NOT NULL,       -- hash of the model's name, its window and the overlap
    text_hash TEXT NOT NULL,
    starts    INTEGER[] NOT NULL,  -- in characters of title, line break and body
    ends      INTEGER[] NOT NULL
);

-- The words of documents and how often each stands there, for lexical search: counted once for a version of
-- a document, whatever snapshot asks. Another way of cutting words has another name and counts anew.
CREATE TABLE document_terms (
    counter      TEXT NOT NULL,    -- hash of all that the counts depend on besides the document
    content_hash TEXT NOT NULL,
    terms        TEXT[] NOT NULL,
    counts       INTEGER[] NOT NULL
);

-- Ranked lists that other systems made, imported under a name for pools and evaluation. The id is the hash
-- of the name and all places, so the same run is recognised whatever its file is called.
CREATE TABLE runs (
    run_id      TEXT PRIMARY KEY,
    name        TEXT NOT NULL UNIQUE,
    source      TEXT NOT NULL,     -- file name, without its folder
    left_out    JSON NOT NULL,     -- reason → number of lines
    imported_at TIMESTAMP NOT NULL
);
CREATE TABLE run_entries (
    run_id      TEXT NOT NULL,
    query_id    TEXT NOT NULL,
    document_id TEXT NOT NULL,
    rank        INTEGER NOT NULL CHECK (rank > 0), -- lines that were left out leave gaps
    score       DOUBLE             -- in the system's own measure; none where the file has ranks alone
);

-- A pool is one run of the retrievers; candidates are the union of all pools and imports.
CREATE TABLE pools (
    pool_id     TEXT PRIMARY KEY,
    snapshot_id TEXT NOT NULL,
    parameters  JSON NOT NULL,     -- systems with their settings, depth, random negatives, seed
    report      JSON NOT NULL,
    built_at    TIMESTAMP NOT NULL
);
CREATE TABLE candidates (
    query_id    TEXT NOT NULL,
    document_id TEXT NOT NULL,
    PRIMARY KEY (query_id, document_id)
);
CREATE TABLE candidate_sources (
    pool_id     TEXT NOT NULL,     -- a pool, the round of imported judgments or of an audit, or
                                   --   of 'origin' a hash of the map
    query_id    TEXT NOT NULL,
    document_id TEXT NOT NULL,
    system      TEXT NOT NULL,     -- 'bm25', 'dense', 'hybrid', 'run:NAME', 'random', 'imported', 'audit:top',
                                   --   'audit:below', 'audit:random', 'origin' (what a model wrote for)
    rank        INTEGER,           -- 1 is the top; none for random and imported
    score       DOUBLE,
    passage_start INTEGER,         -- of a longer document: the part that the system matched, in characters
    passage_end   INTEGER          --   of title, line break and body
);
-- Where a random sample of a pool is judged: every pair that its systems proposed, with its probability of
-- being drawn. The drawn ones are candidates; the others are known as pooled, and nobody is asked about them.
CREATE TABLE pool_sample_pairs (
    pool_id               TEXT NOT NULL,
    query_id              TEXT NOT NULL,
    document_id           TEXT NOT NULL,
    rank                  INTEGER NOT NULL CHECK (rank > 0), -- the best that a system gave
    band                  INTEGER NOT NULL CHECK (band > 0), -- of ranks, from 1: the best ranked
    inclusion_probability DOUBLE NOT NULL CHECK (inclusion_probability > 0 AND inclusion_probability <= 1),
    sampled               BOOLEAN NOT NULL
);

-- Long work that the app was asked for, and how each ended. No ending and no process that is at it: the
-- server was stopped meanwhile.
CREATE TABLE jobs (
    job_id     TEXT PRIMARY KEY,
    kind       TEXT NOT NULL,      -- 'sample', 'pool', …
    parameters JSON NOT NULL,
    started_by TEXT NOT NULL,
    started_at TIMESTAMP NOT NULL
);
CREATE TABLE job_endings (
    job_id   TEXT PRIMARY KEY,
    outcome  TEXT NOT NULL CHECK (outcome IN ('done', 'refused', 'failed', 'stopped')),
    message  TEXT NOT NULL,        -- a sentence for people
    ended_at TIMESTAMP NOT NULL
);

-- ── Labeling ────────────────────────────────────────────────────────────────────────────────────

CREATE TABLE annotators (
    name     TEXT PRIMARY KEY,
    role     TEXT NOT NULL CHECK (role IN ('annotator', 'reviewer', 'lead', 'evaluator')),
    imported BOOLEAN NOT NULL,     -- known only from imported judgments: cannot sign in
    added_at TIMESTAMP NOT NULL,
    deactivated_at TIMESTAMP       -- cannot sign in since then; their judgments remain and count
);
CREATE TABLE passwords (           -- the highest revision counts
    annotator TEXT NOT NULL,
    revision  INTEGER NOT NULL,
    hash      TEXT NOT NULL,       -- argon2id
    set_at    TIMESTAMP NOT NULL,
    PRIMARY KEY (annotator, revision)
);

-- Other names by which an annotator signs in: the e-mail address that an identity provider vouches for.
CREATE TABLE identities (
    email     TEXT PRIMARY KEY,    -- its ASCII letters in lower case
    annotator TEXT NOT NULL,
    added_at  TIMESTAMP NOT NULL
);

CREATE TABLE rounds (
    round_id   TEXT PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    kind       TEXT NOT NULL CHECK (kind IN ('labeling', 'imported', 'audit', 'pilot', 'practice')),
    guide_hash TEXT NOT NULL,
    parameters JSON NOT NULL,      -- annotators, overlap, duplicates, seed
    opened_at  TIMESTAMP NOT NULL,
    sequence   INTEGER NOT NULL UNIQUE -- the order of opening: a clock can step back
);

-- What happens to a round after it opened; the highest revision of a kind and its opposite counts.
CREATE TABLE round_events (
    round_id    TEXT NOT NULL,
    revision    INTEGER NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('pause', 'resume', 'close', 'reopen', 'extend', 'reassign', 'guide')),
    detail      JSON NOT NULL,     -- 'guide': {"guide": hash}; 'extend', 'reassign': who, and how many
    author      TEXT NOT NULL,
    happened_at TIMESTAMP NOT NULL,
    PRIMARY KEY (round_id, revision)
);
CREATE VIEW round_states AS
SELECT r.* EXCLUDE (guide_hash), coalesce(e.guide_hash, r.guide_hash) AS guide_hash,
       coalesce(e.paused, false) AS paused, coalesce(e.closed, false) AS closed,
       CASE WHEN e.closed THEN e.closed_at END AS closed_at
FROM rounds r LEFT JOIN (
    SELECT round_id,
           arg_max(detail->>'guide', revision) FILTER (kind = 'guide') AS guide_hash,
           arg_max(kind, revision) FILTER (kind IN ('pause', 'resume')) = 'pause' AS paused,
           arg_max(kind, revision) FILTER (kind IN ('close', 'reopen')) = 'close' AS closed,
           arg_max(happened_at, revision) FILTER (kind = 'close') AS closed_at
    FROM round_events GROUP BY round_id) e USING (round_id);

-- Pairs of a round whose grade is known beforehand: the practice queries, with their explanation, and what
-- is planted blind in a labeling round. Neither counts as a judgment of the pair.
CREATE TABLE known_answers (
    round_id    TEXT NOT NULL,
    query_id    TEXT NOT NULL,
    document_id TEXT NOT NULL,
    grade       INTEGER NOT NULL,
    explanation TEXT,              -- shown after the answer, in practice only
    PRIMARY KEY (round_id, query_id, document_id)
);

-- One showing of one candidate to one annotator, computed when the round opens. The id is a seeded
-- hash: it says nothing about rank, system or duplication. duplicate_of never leaves the server.
CREATE TABLE presentations (
    presentation_id TEXT PRIMARY KEY,
    round_id        TEXT NOT NULL,
    annotator       TEXT NOT NULL,
    query_id        TEXT NOT NULL,
    document_id     TEXT NOT NULL,
    content_hash    TEXT NOT NULL, -- the version that is shown, whatever the corpus becomes
    position        INTEGER NOT NULL, -- from 0, per round and annotator
    duplicate_of    TEXT           -- the first showing, for a blind duplicate
);

-- Presentations that nobody will see any more, because they were moved to somebody else or a lead left their query
-- out. Only unanswered ones. A query that is put back gets its presentations back: their rows here are deleted.
CREATE TABLE withdrawals (
    presentation_id TEXT PRIMARY KEY,
    reason          TEXT NOT NULL,
    author          TEXT NOT NULL,
    withdrawn_at    TIMESTAMP NOT NULL
);
CREATE VIEW live_presentations AS
FROM presentations p WHERE NOT EXISTS (FROM withdrawals w WHERE w.presentation_id = p.presentation_id);

-- What an annotator did with a presentation. Revision r can be written once, by whoever saw r earlier
-- events: two tabs, a retried request or a held key cannot both write it. The last revision counts.
--   grade        the grade in `grade`
--   cannot_tell  no grade can be given; `reason` says why
--   later        put to the end of the queue
--   undo         the presentation is open again
CREATE TABLE judgment_events (
    presentation_id TEXT NOT NULL,
    revision        INTEGER NOT NULL CHECK (revision >= 0),
    kind            TEXT NOT NULL CHECK (kind IN ('grade', 'cannot_tell', 'later', 'undo')),
    grade           INTEGER,
    reason          TEXT,
    note            TEXT,
    flagged         BOOLEAN NOT NULL,
    guide_hash      TEXT NOT NULL,
    author          TEXT NOT NULL,
    client_key      TEXT NOT NULL UNIQUE, -- made by the client per action: a retry is recognised by it
    shown_at        TIMESTAMP,
    submitted_at    TIMESTAMP NOT NULL,
    active_ms       INTEGER,
    late            BOOLEAN DEFAULT false, -- given after the round was closed: kept, counted and marked
    time_known      BOOLEAN DEFAULT true,  -- false: imported without a time; submitted_at is of the import
    PRIMARY KEY (presentation_id, revision),
    CHECK ((kind = 'grade') = (grade IS NOT NULL))
);

-- Does the corpus answer the query? Asked after an annotator's last document of it.
CREATE TABLE query_answers (
    round_id    TEXT NOT NULL,
    annotator   TEXT NOT NULL,
    query_id    TEXT NOT NULL,
    revision    INTEGER NOT NULL,
    answer      TEXT NOT NULL CHECK (answer IN ('yes', 'partly', 'no')),
    client_key  TEXT NOT NULL UNIQUE,
    answered_at TIMESTAMP NOT NULL,
    PRIMARY KEY (round_id, annotator, query_id, revision)
);
CREATE VIEW current_query_answers AS
SELECT * FROM query_answers
QUALIFY row_number() OVER (PARTITION BY round_id, annotator, query_id ORDER BY revision DESC) = 1;

-- A disputed pair that was sent back for one more opinion: the showing that was made for it.
CREATE TABLE opinion_requests (
    presentation_id TEXT PRIMARY KEY,
    query_id        TEXT NOT NULL,
    document_id     TEXT NOT NULL,
    reviewer        TEXT NOT NULL,
    asked_at        TIMESTAMP NOT NULL
);

-- Where the guide left somebody alone: collected for its next version.
CREATE TABLE guide_questions (
    question_id TEXT PRIMARY KEY,
    guide_hash  TEXT NOT NULL,
    query_id    TEXT,              -- none: about the guide as a whole
    document_id TEXT,
    words       TEXT NOT NULL,
    author      TEXT NOT NULL,
    asked_at    TIMESTAMP NOT NULL
);

-- What a lead answers; the highest revision of a question counts. For everyone, or for who asked alone.
CREATE TABLE guide_answers (
    question_id TEXT NOT NULL,
    revision    INTEGER NOT NULL,
    words       TEXT NOT NULL,
    everyone    BOOLEAN NOT NULL,
    author      TEXT NOT NULL,
    answered_at TIMESTAMP NOT NULL,
    UNIQUE (question_id, revision)
);

-- The reviewer's decisions; the highest revision of a pair counts. No grade: decided to be unjudgeable.
CREATE TABLE adjudications (
    query_id    TEXT NOT NULL,
    document_id TEXT NOT NULL,
    revision    INTEGER NOT NULL,
    grade       INTEGER,
    reason      TEXT NOT NULL,
    reviewer    TEXT NOT NULL,
    decided_at  TIMESTAMP NOT NULL,
    content_hash TEXT,             -- the version of the document that was read; none: not known
    guide_hash   TEXT,             -- the guide in force; none: not known
    PRIMARY KEY (query_id, document_id, revision)
);

-- A quarter's re-labeling, planned: which pairs are judged again, which queries leave and which join. The same
-- inputs and seed make the same plan. Quarters order plans; the clock does not.
CREATE TABLE relabeling_plans (
    plan_id    TEXT PRIMARY KEY,
    quarter    TEXT NOT NULL,      -- '2026-Q4'
    parameters JSON NOT NULL,      -- fraction, seed and shares of the parts
    report     JSON NOT NULL,      -- counts, strata, pace and hours, as they were shown
    planned_at TIMESTAMP NOT NULL
);
-- The pairs of a plan with all that was true of them before: the grade and what it rested on.
CREATE TABLE relabeling_pairs (
    plan_id      TEXT NOT NULL,
    query_id     TEXT NOT NULL,
    document_id  TEXT NOT NULL,
    part         TEXT NOT NULL CHECK (part IN ('random', 'due', 'stale', 'control')),
    stratum      TEXT NOT NULL,    -- type and quarter of the last judgment: what the random part is drawn by
    inclusion_probability DOUBLE,  -- of the random part; none: not drawn at random
    grade        INTEGER,          -- none: disputed or unjudgeable
    how          TEXT NOT NULL,
    content_hash TEXT,             -- the version that was judged; none: not known
    guide_hash   TEXT,             -- the guide it was judged under; none: not known
    annotators   TEXT[] NOT NULL,  -- who judged it
    judged       TEXT,             -- the quarter it was judged in; none: not known
    decisions    INTEGER NOT NULL, -- revisions of the reviewer's decisions that there were
    PRIMARY KEY (plan_id, query_id, document_id)
);
-- Queries that leave the set or join it with a plan. Who joins is known by the normalised text.
CREATE TABLE relabeling_queries (
    plan_id    TEXT NOT NULL,
    normalised TEXT NOT NULL,
    kind       TEXT NOT NULL CHECK (kind IN ('retire', 'add')),
    reason     TEXT NOT NULL,
    stratum    TEXT,               -- of those who join, as the sample calls it
    traffic    BIGINT,             -- times it was asked in the new logs
    inclusion_probability DOUBLE,
    PRIMARY KEY (plan_id, normalised)
);
-- The round in which a plan is carried out. A quarter and a plan are opened once.
-- The same runs on the release before a plan and on the one after it; the last comparison counts.
CREATE TABLE relabeling_orders (
    plan_id     TEXT NOT NULL,
    number      INTEGER NOT NULL,
    orders      JSON NOT NULL,      -- each measure: releases, parts, means of the systems, what turned
    author      TEXT NOT NULL,
    compared_at TIMESTAMP NOT NULL,
    PRIMARY KEY (plan_id, number)
);
CREATE TABLE relabeling_rounds (
    plan_id  TEXT PRIMARY KEY,
    round_id TEXT NOT NULL UNIQUE,
    quarter  TEXT NOT NULL UNIQUE
);

-- Queries that left the set, and why. The highest revision counts; a query that comes back is not retired.
CREATE TABLE query_retirements (
    query_id   TEXT NOT NULL,
    revision   INTEGER NOT NULL,
    retired    BOOLEAN NOT NULL,
    reason     TEXT NOT NULL,
    author     TEXT NOT NULL,
    retired_at TIMESTAMP NOT NULL,
    PRIMARY KEY (query_id, revision)
);
CREATE VIEW retired_queries AS
SELECT query_id, reason FROM (
    SELECT * FROM query_retirements
    QUALIFY row_number() OVER (PARTITION BY query_id ORDER BY revision DESC) = 1)
WHERE retired;

-- Where each presentation that was acted on stands: its last event, the revision that comes next, and the
-- place of the event in the order of writing (the table is only appended to).
-- (Six times as fast as an aggregate by presentation: most presentations have one event.)
CREATE VIEW presentation_states AS
SELECT presentation_id, revision + 1 AS next_revision, kind, grade, reason, note, flagged, guide_hash,
       submitted_at, kind IN ('grade', 'cannot_tell') AS answered, e.rowid AS written
FROM judgment_events e
WHERE NOT EXISTS (
    FROM judgment_events later
    WHERE later.presentation_id = e.presentation_id AND later.revision > e.revision);

-- The answered presentations with their answers.
CREATE VIEW current_judgments AS
SELECT p.*, s.* EXCLUDE (presentation_id, answered)
FROM presentations p JOIN presentation_states s USING (presentation_id)
WHERE s.answered;

-- How far the pairs of re-labeling rounds are: whether everybody who was asked has answered.
-- `shown`: the versions of the document that the round showed.
CREATE VIEW relabeling_progress AS
SELECT b.plan_id, b.quarter, r.round_id, r.sequence, a.query_id, a.document_id, a.content_hash, a.decisions,
       list(DISTINCT p.content_hash ORDER BY p.content_hash) AS shown,
       bool_and(coalesce(s.answered, false)) AS whole
FROM relabeling_rounds b JOIN rounds r USING (round_id) JOIN relabeling_pairs a USING (plan_id)
JOIN live_presentations p
  ON p.round_id = r.round_id AND p.query_id = a.query_id AND p.document_id = a.document_id
LEFT JOIN presentation_states s USING (presentation_id)
WHERE p.duplicate_of IS NULL
  AND NOT EXISTS (FROM opinion_requests o WHERE o.presentation_id = p.presentation_id)
GROUP BY ALL;

-- What can count: blind duplicates, known answers and what was judged in a pilot or for practice never do. Once
-- a pair is re-labeled by everybody who was asked, what earlier rounds said of it does not count either, save of
-- the version in force, where the re-labeling showed another one: a text that comes back has its own grade. Until
-- then the new judgments of the same text do not.
-- `in_force`: it is about the version of the document that the corpus has now.
CREATE VIEW eligible_judgments AS
SELECT j.* FROM (
    SELECT c.*, r.sequence AS round_sequence,
           c.content_hash IN (
               SELECT s.content_hash FROM snapshot_documents s
               WHERE s.snapshot_id = (SELECT value FROM settings WHERE name = 'corpus')) AS in_force
    FROM current_judgments c JOIN rounds r USING (round_id)
    WHERE c.duplicate_of IS NULL AND r.kind NOT IN ('pilot', 'practice')) j
WHERE NOT EXISTS (
    FROM known_answers k
    WHERE k.round_id = j.round_id AND k.query_id = j.query_id AND k.document_id = j.document_id)
  AND NOT EXISTS (
    FROM relabeling_progress n
    WHERE n.query_id = j.query_id AND n.document_id = j.document_id
      AND CASE WHEN n.whole THEN n.sequence > j.round_sequence
                    AND (NOT j.in_force OR list_contains(n.shown, j.content_hash))
               ELSE n.round_id = j.round_id AND n.content_hash = j.content_hash END);

-- The version of the document by which a pair is read and decided: the one in force where it was judged, else
-- the one judged in the newest round.
CREATE VIEW judged_versions AS
SELECT query_id, document_id,
       arg_max(content_hash, (in_force, round_sequence, written)) AS content_hash, bool_or(in_force) AS in_force
FROM eligible_judgments GROUP BY query_id, document_id;

-- One judgment per annotator and pair. Where the version in force was judged, judgments of it alone count, else
-- those of older versions; of several rounds the newest counts. `same_text`: of the pair's judged version.
-- (An anti-join reads all pairs in a little less time and one pair in six times as much.)
CREATE VIEW counted_judgments AS
SELECT *, content_hash = first_value(content_hash) OVER pair AS same_text
FROM eligible_judgments
WINDOW pair AS (PARTITION BY query_id, document_id ORDER BY in_force DESC, round_sequence DESC, written DESC)
QUALIFY in_force = first_value(in_force) OVER pair AND row_number() OVER (
    PARTITION BY annotator, query_id, document_id ORDER BY in_force DESC, round_sequence DESC, written DESC) = 1;

CREATE VIEW current_adjudications AS
SELECT *, rowid AS written FROM adjudications
QUALIFY row_number() OVER (PARTITION BY query_id, document_id ORDER BY revision DESC) = 1;

-- A decision counts until the version in force is judged and it is about another one, or until the pair is
-- re-labeled; on the version in force it counts again where the re-labeling showed another one. Of several that
-- can count it is the newest of the version in force, else the newest.
CREATE VIEW counted_adjudications AS
SELECT a.* EXCLUDE (in_force) FROM (
    SELECT *, rowid AS written,
           content_hash IS NULL OR content_hash IN (
               SELECT s.content_hash FROM snapshot_documents s
               WHERE s.snapshot_id = (SELECT value FROM settings WHERE name = 'corpus')) AS in_force
    FROM adjudications
    QUALIFY content_hash IS NOT NULL OR row_number() OVER (
        PARTITION BY query_id, document_id ORDER BY revision DESC) = 1) a
WHERE NOT EXISTS (
    FROM eligible_judgments j
    WHERE j.query_id = a.query_id AND j.document_id = a.document_id
      AND j.in_force AND j.content_hash <> a.content_hash)
  AND NOT EXISTS (
    FROM relabeling_progress n
    WHERE n.query_id = a.query_id AND n.document_id = a.document_id AND n.whole AND n.decisions > a.revision
      AND (NOT a.in_force OR a.content_hash IS NULL OR list_contains(n.shown, a.content_hash)))
QUALIFY row_number() OVER (
    PARTITION BY query_id, document_id ORDER BY in_force DESC, revision DESC) = 1;

-- What judges that are not people say about pairs, such as a language model, by the judge's name. No view of
-- people's judgments reads this table: a judge has no vote. The highest revision of a version of a document counts.
CREATE TABLE judge_judgments (
    judge        TEXT NOT NULL,
    query_id     TEXT NOT NULL,
    document_id  TEXT NOT NULL,
    content_hash TEXT NOT NULL,    -- the version that the corpus had at the import
    revision     INTEGER NOT NULL CHECK (revision >= 0),
    grade        INTEGER,          -- none: the judge could not tell
    note         TEXT,
    guide_hash   TEXT NOT NULL,    -- the guide in force at the import
    source       TEXT NOT NULL,    -- file name, without its folder
    submitted_at TIMESTAMP,        -- none: not known
    imported_at  TIMESTAMP NOT NULL,
    PRIMARY KEY (judge, query_id, document_id, content_hash, revision)
);
CREATE VIEW current_judge_judgments AS
SELECT * FROM judge_judgments
QUALIFY row_number() OVER (
    PARTITION BY judge, query_id, document_id, content_hash ORDER BY revision DESC) = 1;

-- ── Reference answers that people write ─────────────────────────────────────────────────────────

-- A task: people write reference answers to queries. Who writes for which query is fixed when it opens.
CREATE TABLE answer_tasks (
    task_id    TEXT PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    parameters JSON NOT NULL,      -- writers, overlap, bound, show, documents, seed and which queries
    opened_at  TIMESTAMP NOT NULL,
    sequence   INTEGER NOT NULL UNIQUE -- the order of opening: a clock can step back
);
CREATE TABLE answer_task_events (  -- the highest revision counts
    task_id     TEXT NOT NULL,
    revision    INTEGER NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('close', 'reopen')),
    author      TEXT NOT NULL,
    happened_at TIMESTAMP NOT NULL,
    PRIMARY KEY (task_id, revision)
);
CREATE VIEW answer_task_states AS
SELECT t.*, coalesce(e.kind = 'close', false) AS closed
FROM answer_tasks t LEFT JOIN (
    SELECT task_id, arg_max(kind, revision) AS kind FROM answer_task_events GROUP BY task_id) e USING (task_id);
CREATE TABLE answer_task_queries (
    task_id           TEXT NOT NULL,
    query_id          TEXT NOT NULL,
    earlier_reference INTEGER,     -- the revision in force when the task opened, which comes back when the
    PRIMARY KEY (task_id, query_id) -- task's own is taken back; none: there was none
);
CREATE TABLE answer_evidence (     -- the documents that are shown with a query, as they were at the opening
    task_id      TEXT NOT NULL,
    query_id     TEXT NOT NULL,
    document_id  TEXT NOT NULL,
    content_hash TEXT NOT NULL
);
CREATE TABLE answer_assignments (
    assignment_id TEXT PRIMARY KEY,
    task_id       TEXT NOT NULL,
    query_id      TEXT NOT NULL,
    writer        TEXT NOT NULL,
    position      INTEGER NOT NULL -- from 0, per task and writer
);

-- What a writer did with an assignment. Revision r can be written once, by whoever saw r earlier events.
CREATE TABLE answer_events (
    assignment_id TEXT NOT NULL,
    revision      INTEGER NOT NULL CHECK (revision >= 0),
    kind          TEXT NOT NULL CHECK (kind IN ('answer', 'unanswerable', 'retract')),
    answer        TEXT,
    documents     TEXT[] NOT NULL, -- ids of those that support the answer
    late          BOOLEAN NOT NULL, -- written after the task was closed: kept, counted and marked
    written_at    TIMESTAMP NOT NULL,
    PRIMARY KEY (assignment_id, revision),
    CHECK ((kind = 'answer') = (answer IS NOT NULL))
);
CREATE VIEW answer_states AS
SELECT *, kind <> 'retract' AS answered, rowid AS written FROM answer_events
QUALIFY row_number() OVER (PARTITION BY assignment_id ORDER BY revision DESC) = 1;
CREATE TABLE answer_drafts (       -- documents ticked for an answer that is not sent yet; the highest number
    assignment_id TEXT NOT NULL,
    revision      INTEGER NOT NULL, -- events that the assignment had
    number        INTEGER NOT NULL,
    documents     TEXT[] NOT NULL,
    PRIMARY KEY (assignment_id, revision, number)
);

-- The reviewer's decisions on written answers; the highest revision counts.
CREATE TABLE answer_decisions (
    task_id    TEXT NOT NULL,
    query_id   TEXT NOT NULL,
    revision   INTEGER NOT NULL CHECK (revision >= 0),
    answers    TEXT[] NOT NULL,    -- the references; none: the corpus does not answer the query
    merged     TEXT,               -- the one of them that the reviewer wrote
    reason     TEXT NOT NULL,
    reviewer   TEXT NOT NULL,
    decided_at TIMESTAMP NOT NULL,
    PRIMARY KEY (task_id, query_id, revision)
);
CREATE VIEW current_answer_decisions AS
SELECT *, rowid AS written FROM answer_decisions
QUALIFY row_number() OVER (PARTITION BY task_id, query_id ORDER BY revision DESC) = 1;

-- ── Splits and releases ─────────────────────────────────────────────────────────────────────────

CREATE TABLE splits (
    split_id   TEXT PRIMARY KEY,
    parameters JSON NOT NULL,      -- parts and fractions, thresholds, seed
    report     JSON NOT NULL,
    made_at    TIMESTAMP NOT NULL
);
-- Why two queries must stay together: the strongest edges that hold the groups together, each verified exactly.
CREATE TABLE leakage_edges (
    split_id   TEXT NOT NULL,
    query_a    TEXT NOT NULL,
    query_b    TEXT NOT NULL,
    kind       TEXT NOT NULL,      -- 'query text', 'shared document', 'near-duplicate document'
    similarity DOUBLE NOT NULL,
    detail     JSON NOT NULL       -- the documents that make the edge
);
CREATE TABLE split_assignments (
    split_id TEXT NOT NULL,
    query_id TEXT NOT NULL,
    group_id TEXT NOT NULL,        -- the leakage group: the smallest query id in it
    part     TEXT NOT NULL         -- 'dev', 'test', …
);

-- A frozen gold set. Its content is text, one canonical JSON line a record; release_id is the hash of
-- the parts' names and SHA-256 sums, so that the same content has the same id wherever it was frozen.
-- A part's text is stored in pieces of whole lines, packed (zlib).
CREATE TABLE releases (
    name       TEXT PRIMARY KEY,
    release_id TEXT NOT NULL,
    manifest   JSON NOT NULL,      -- parts: part → {sha256, lines, a checksum a line}; versions (not content)
    frozen_at  TIMESTAMP NOT NULL, -- not part of the content
    frozen_by  TEXT NOT NULL
);
CREATE TABLE release_parts (
    release_id TEXT NOT NULL,
    part       TEXT NOT NULL,
    place      INTEGER NOT NULL,   -- of the piece, from 0
    content    BLOB NOT NULL,
    PRIMARY KEY (release_id, part, place)
);

-- Who had the grades of a release's sealed parts. Written before any of them is handed out, so that whoever
-- fails afterwards is in it as well.
CREATE TABLE seal_openings (
    release_id TEXT NOT NULL,
    name       TEXT NOT NULL,      -- the release's name that was asked for
    parts      TEXT[] NOT NULL,    -- the sealed parts that were opened
    purpose    TEXT NOT NULL,      -- 'export as beir', 'evaluate …'
    reason     TEXT NOT NULL,
    opened_by  TEXT NOT NULL,      -- an annotator's name, or 'command line'
    opened_at  TIMESTAMP NOT NULL
);
-- Each scoring of a run on sealed parts of a release. Written before its figures are handed out. The same
-- run, asked the same once more, is no other look.
CREATE TABLE looks (
    look_id    TEXT PRIMARY KEY,   -- the hash of release, parts, run and what was asked
    release_id TEXT NOT NULL,
    name       TEXT NOT NULL,      -- the release's name that was asked for
    parts      TEXT[] NOT NULL,    -- the sealed parts that were scored
    system     TEXT NOT NULL,      -- the run's name, such as 'dense@may'; 'dense' is its family
    run_sum    TEXT NOT NULL,      -- the hash of the run's lists for the queries of these parts
    asked      JSON NOT NULL,      -- measures, facets, threshold, seed
    figures    JSON NOT NULL,      -- measure → value, low, high, n, judged: as they were shown
    reason     TEXT NOT NULL,
    looked_by  TEXT NOT NULL,      -- an annotator's name, or 'command line'
    looked_at  TIMESTAMP NOT NULL
);
-- What a look is compared with later ones by, query by query. Never shown to anybody.
CREATE TABLE look_queries (
    look_id  TEXT NOT NULL,
    query_id TEXT NOT NULL,
    list_sum UBIGINT,              -- hash of the documents in their order; NULL where the run has none
    value    DOUBLE                -- of the first measure; NULL where the query has none
);
-- An evaluation that was made on the page Evaluate. Of a sealed part it has nothing by query.
CREATE TABLE evaluations (
    evaluation_id TEXT PRIMARY KEY, -- the hash of its author, its number and its result
    release_id    TEXT NOT NULL,
    name          TEXT NOT NULL,    -- the release's name that was asked for
    parts         TEXT[] NOT NULL,
    sealed        TEXT[] NOT NULL,  -- those of the parts that are sealed
    systems       TEXT[] NOT NULL,
    result        JSON NOT NULL,    -- as `goldgrade evaluate --json` prints it
    page          JSON NOT NULL,    -- title, lead, findings, sections and remark of its report
    author        TEXT NOT NULL,
    made_at       TIMESTAMP NOT NULL
);

-- ── Coverage ────────────────────────────────────────────────────────────────────────────────────

-- A map of the corpus: its entities, the clusters of their graph, and all that decided them. The setting
-- `coverage` has the map in force.
CREATE TABLE coverage_maps (
    map_id      TEXT PRIMARY KEY,  -- the hash of snapshot and parameters
    snapshot_id TEXT NOT NULL,
    parameters  JSON NOT NULL,     -- extractor, model, graph, resolution and how it was chosen, seed, least documents
    left_out    JSON NOT NULL,     -- reason → number of documents
    made_at     TIMESTAMP NOT NULL
);
-- What documents are about. A place is the entity's number in its map, in the order of names.
CREATE TABLE coverage_entities (
    map_id      TEXT NOT NULL,
    place       INTEGER NOT NULL,
    name        TEXT NOT NULL,     -- normalised
    description TEXT NOT NULL,
    neighbours  INTEGER NOT NULL   -- edges of the entity graph; 0: a loner
);
CREATE TABLE coverage_documents (  -- also those without an entity
    map_id      TEXT NOT NULL,
    document_id TEXT NOT NULL,
    entities    INTEGER[] NOT NULL -- places, ascending
);
CREATE TABLE coverage_clusters (
    map_id   TEXT NOT NULL,
    number   INTEGER NOT NULL,     -- from 0, the cluster with most documents first
    name     TEXT NOT NULL,
    entities INTEGER[] NOT NULL    -- places, the most central first
);
-- How the clusters depend on resolution and seed: the partition of each that was tried.
CREATE TABLE coverage_partitions (
    map_id     TEXT NOT NULL,
    resolution DOUBLE NOT NULL,
    seed       BIGINT NOT NULL,
    rand_index DOUBLE,             -- mean over the pairs of seeds; NULL: no two entities are joined
    labels     INTEGER[] NOT NULL  -- the cluster of each entity, by place
);
-- What a query or a logged text is about, by its normalised text.
CREATE TABLE coverage_texts (
    map_id     TEXT NOT NULL,
    normalised TEXT NOT NULL,
    by_phrase  INTEGER[] NOT NULL, -- places of entities that it names
    by_meaning INTEGER[] NOT NULL, -- places of entities near in meaning
    PRIMARY KEY (map_id, normalised)
);
-- What leads call clusters; the highest revision counts.
CREATE TABLE cluster_names (
    map_id   TEXT NOT NULL,
    number   INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    name     TEXT NOT NULL,
    author   TEXT NOT NULL,
    named_at TIMESTAMP NOT NULL,
    PRIMARY KEY (map_id, number, revision)
);

-- Queries that people are asked to write: for gaps, or for topics that the corpus lacks.
CREATE TABLE writing_batches (
    batch_id  TEXT PRIMARY KEY,
    kind      TEXT NOT NULL CHECK (kind IN ('gap', 'unanswerable')),
    map_id    TEXT NOT NULL,
    queries   INTEGER NOT NULL,    -- how many were asked for
    writers   TEXT[] NOT NULL,
    seed      BIGINT NOT NULL,     -- of documents and styles
    author    TEXT NOT NULL,
    opened_at TIMESTAMP NOT NULL
);
-- One query to write. A task that is passed on is followed by one with another document of its cluster.
CREATE TABLE writing_tasks (
    task_id      TEXT PRIMARY KEY,
    batch_id     TEXT NOT NULL,
    position     INTEGER NOT NULL, -- in the batch
    writer       TEXT NOT NULL,
    cluster      INTEGER NOT NULL, -- of the batch's map
    document_id  TEXT NOT NULL,
    content_hash TEXT NOT NULL,    -- the version that the writer sees
    style        TEXT NOT NULL,    -- length and wording, as 'short names'
    UNIQUE (batch_id, position)
);
CREATE TABLE writing_endings (     -- a task without one is open
    task_id  TEXT PRIMARY KEY,
    outcome  TEXT NOT NULL CHECK (outcome IN ('written', 'passed')),
    query_id TEXT,                 -- NULL: passed
    ended_at TIMESTAMP NOT NULL
);
-- Where a query that was written for coverage comes from. Its source in `queries` says who wrote it: 'written'
-- by a person, 'synthetic' by a language model.
CREATE TABLE coverage_queries (
    query_id     TEXT PRIMARY KEY,
    purpose      TEXT NOT NULL CHECK (purpose IN ('gap', 'unanswerable')),
    writer       TEXT NOT NULL,    -- an annotator, or the name of a model
    map_id       TEXT NOT NULL,
    cluster      INTEGER NOT NULL,
    document_id  TEXT NOT NULL,    -- that it was written for; of 'unanswerable' the one that was shown
    content_hash TEXT NOT NULL,
    style        TEXT NOT NULL,
    detail       JSON NOT NULL,    -- warnings that the writer saw; of a model all that decided the query
    written_at   TIMESTAMP NOT NULL
);


-- ── Language model ──────────────────────────────────────────────────────────────────────────────

-- What a language model answered to a call, so that none is paid twice. The last attempt counts.
CREATE TABLE model_answers (
    call_id        TEXT NOT NULL,    -- the hash of model, prompt and the text that it was asked about
    attempt        INTEGER NOT NULL CHECK (attempt >= 0),
    model          TEXT NOT NULL,
    prompt_hash    TEXT NOT NULL,
    kind           TEXT NOT NULL CHECK (kind IN ('answer', 'refusal', 'malformed', 'rejected')),
    text           TEXT NOT NULL,    -- of 'malformed' and 'rejected' the reason
    tokens_read    BIGINT,           -- as the endpoint counts; NULL: it did not say
    tokens_written BIGINT,
    answered_at    TIMESTAMP NOT NULL,
    PRIMARY KEY (call_id, attempt)
);
-- Which of the queries that a language model wrote people judge. The highest revision counts.
CREATE TABLE synthetic_draws (
    query_id TEXT NOT NULL,
    revision INTEGER NOT NULL CHECK (revision >= 0),
    drawn    BOOLEAN NOT NULL,       -- whether people judge it
    share    DOUBLE NOT NULL CHECK (share > 0 AND share <= 1),  -- that was asked for
    seed     BIGINT NOT NULL,
    author   TEXT NOT NULL,
    drawn_at TIMESTAMP NOT NULL,
    PRIMARY KEY (query_id, revision)
);
-- Queries that wait for a larger share: they are not in force.
CREATE VIEW withheld_queries AS
SELECT query_id FROM (
    SELECT * FROM synthetic_draws
    QUALIFY row_number() OVER (PARTITION BY query_id ORDER BY revision DESC) = 1)
WHERE NOT drawn;
