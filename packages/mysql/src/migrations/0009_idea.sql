CREATE TABLE idea (
  id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  workspace_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  author_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  status VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  status_reason VARCHAR(1000) NULL,
  title VARCHAR(200) NOT NULL,
  excerpt VARCHAR(300) NOT NULL,
  tags JSON NOT NULL,
  -- What an editor must have read: counts edits and changes of status.
  version INT UNSIGNED NOT NULL DEFAULT 1,
  -- Version of the last change of the text, and the newest one that the document store has.
  body_version INT UNSIGNED NOT NULL DEFAULT 1,
  stored_version INT UNSIGNED NOT NULL DEFAULT 0,
  -- Counts every event of this idea, ratings too.
  event_version INT UNSIGNED NOT NULL DEFAULT 1,
  -- Sums over counted ratings, kept in the transaction of the rating.
  rating_count INT UNSIGNED NOT NULL DEFAULT 0,
  rating_sum INT UNSIGNED NOT NULL DEFAULT 0,
  rating_sumsq INT UNSIGNED NOT NULL DEFAULT 0,
  active_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  removed_at DATETIME(6) NULL,
  created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  updated_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (id),
  KEY idea_newest (workspace_id, created_at, id),
  KEY idea_active (workspace_id, active_at, id),
  KEY idea_title (workspace_id, title, id),
  KEY idea_author (author_id, created_at, id),
  CONSTRAINT idea_workspace_fk FOREIGN KEY (workspace_id) REFERENCES workspace (id),
  CONSTRAINT idea_author_fk FOREIGN KEY (author_id) REFERENCES user (id),
  CONSTRAINT idea_status CHECK (status IN ('draft', 'open', 'shortlisted', 'accepted', 'declined', 'archived')),
  CONSTRAINT idea_stored CHECK (stored_version <= body_version AND body_version <= version)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
