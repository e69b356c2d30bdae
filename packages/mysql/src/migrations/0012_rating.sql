CREATE TABLE rating (
  idea_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  user_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  stars TINYINT UNSIGNED NOT NULL,
  -- FALSE for the author's own and for people who have left the workspace.
  counted BOOLEAN NOT NULL,
  -- The text that was rated.
  idea_version INT UNSIGNED NOT NULL,
  created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  updated_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (idea_id, user_id),
  KEY rating_user (user_id, idea_id),
  CONSTRAINT rating_idea_fk FOREIGN KEY (idea_id) REFERENCES idea (id),
  CONSTRAINT rating_user_fk FOREIGN KEY (user_id) REFERENCES user (id),
  CONSTRAINT rating_stars CHECK (stars BETWEEN 1 AND 5)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
