CREATE TABLE guidance (
  id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  workspace_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  author_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  title VARCHAR(200) NOT NULL,
  excerpt VARCHAR(300) NOT NULL,
  version INT UNSIGNED NOT NULL DEFAULT 1,
  body_version INT UNSIGNED NOT NULL DEFAULT 1,
  stored_version INT UNSIGNED NOT NULL DEFAULT 0,
  event_version INT UNSIGNED NOT NULL DEFAULT 1,
  removed_at DATETIME(6) NULL,
  created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  updated_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (id),
  KEY guidance_newest (workspace_id, created_at, id),
  KEY guidance_author (author_id, created_at, id),
  CONSTRAINT guidance_workspace_fk FOREIGN KEY (workspace_id) REFERENCES workspace (id),
  CONSTRAINT guidance_author_fk FOREIGN KEY (author_id) REFERENCES user (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
