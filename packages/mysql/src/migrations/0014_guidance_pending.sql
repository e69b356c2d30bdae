CREATE TABLE guidance_pending (
  guidance_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  version INT UNSIGNED NOT NULL,
  body JSON NOT NULL,
  created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (guidance_id, version),
  KEY guidance_pending_age (created_at),
  CONSTRAINT guidance_pending_fk FOREIGN KEY (guidance_id) REFERENCES guidance (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
