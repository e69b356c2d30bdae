CREATE TABLE idea_pending (
  idea_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  version INT UNSIGNED NOT NULL,
  body JSON NOT NULL,
  created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (idea_id, version),
  KEY idea_pending_age (created_at),
  CONSTRAINT idea_pending_fk FOREIGN KEY (idea_id) REFERENCES idea (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
