-- Which logs a sample was drawn from, told until now by comparing times: a clock can step back.

CREATE TABLE sample_logs (
    sample_id TEXT NOT NULL,
    import_id TEXT NOT NULL
);
INSERT INTO sample_logs
SELECT s.sample_id, i.import_id FROM samples s JOIN traffic_imports i ON i.imported_at <= s.drawn_at
ORDER BY s.rowid, i.rowid;
