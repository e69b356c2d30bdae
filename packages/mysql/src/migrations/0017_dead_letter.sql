CREATE TABLE dead_letter (
  consumer VARCHAR(60) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  event_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  subject VARCHAR(255) NOT NULL,
  stream_seq BIGINT UNSIGNED NOT NULL,
  payload JSON NOT NULL,
  headers JSON NOT NULL,
  error VARCHAR(2000) NOT NULL,
  attempts SMALLINT UNSIGNED NOT NULL,
  state VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'dead',
  failed_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (consumer, event_id),
  KEY dead_letter_state (state, failed_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
