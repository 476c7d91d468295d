-- Characters that nobody sees make no two queries of one: stored keys of queries lose them, as
-- `curation.core.text.normalise_query` does. Two queries that differed by them alone stay two, each with its judgments;
-- a file then names them by their ids. Plans and maps keep one of two equal keys.
CREATE MACRO without_invisible(text) AS CASE WHEN regexp_matches(text,
    '[\x{ad}\x{34f}\x{61c}\x{115f}\x{1160}\x{17b4}\x{17b5}\x{180b}-\x{180f}\x{200b}-\x{200f}\x{202a}-\x{202e}\x{2060}-\x{2064}\x{2066}-\x{206f}\x{3164}\x{fe00}-\x{fe0f}\x{feff}\x{ffa0}\x{fff9}-\x{fffb}\x{1bca0}-\x{1bca3}\x{1d173}-\x{1d17a}\x{e0001}\x{e0020}-\x{e007f}\x{e0100}-\x{e01ef}]')
THEN nfc_normalize(trim(regexp_replace(regexp_replace(text,
    '(\x{1f3f4}[\x{e0020}-\x{e007e}]+\x{e007f})|[\x{ad}\x{34f}\x{61c}\x{115f}\x{1160}\x{17b4}\x{17b5}\x{180b}-\x{180f}\x{200b}-\x{200f}\x{202a}-\x{202e}\x{2060}-\x{2064}\x{2066}-\x{206f}\x{3164}\x{fe00}-\x{fe0f}\x{feff}\x{ffa0}\x{fff9}-\x{fffb}\x{1bca0}-\x{1bca3}\x{1d173}-\x{1d17a}\x{e0001}\x{e0020}-\x{e007f}\x{e0100}-\x{e01ef}]',
    '\1', 'g'), ' {2,}', ' ', 'g'))) ELSE text END;
UPDATE traffic SET normalised = without_invisible(normalised) WHERE normalised <> without_invisible(normalised);
UPDATE traffic_set_aside SET normalised = without_invisible(normalised)
WHERE normalised <> without_invisible(normalised);
UPDATE queries SET normalised = without_invisible(normalised) WHERE normalised <> without_invisible(normalised);
INSERT OR IGNORE INTO coverage_texts
SELECT map_id, without_invisible(normalised), by_phrase, by_meaning
FROM coverage_texts WHERE normalised <> without_invisible(normalised) ORDER BY normalised;
DELETE FROM coverage_texts WHERE normalised <> without_invisible(normalised);
INSERT OR IGNORE INTO coverage_kept
SELECT map_id, without_invisible(normalised), kept
FROM coverage_kept WHERE normalised <> without_invisible(normalised) ORDER BY normalised;
DELETE FROM coverage_kept WHERE normalised <> without_invisible(normalised);
INSERT OR IGNORE INTO relabeling_queries
SELECT plan_id, without_invisible(normalised), kind, reason, stratum, traffic, inclusion_probability
FROM relabeling_queries WHERE normalised <> without_invisible(normalised) ORDER BY normalised;
DELETE FROM relabeling_queries WHERE normalised <> without_invisible(normalised);
DROP MACRO without_invisible;
