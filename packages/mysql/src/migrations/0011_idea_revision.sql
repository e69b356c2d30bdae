CREATE TABLE idea_revision (
  idea_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  version INT UNSIGNED NOT NULL,
  kind VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  title VARCHAR(200) NOT NULL,
  status VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  reason VARCHAR(1000) NULL,
  -- Whether this version has a text of its own in the document store.
  has_body BOOLEAN NOT NULL,
  editor_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (idea_id, version),
  CONSTRAINT idea_revision_fk FOREIGN KEY (idea_id) REFERENCES idea (id),
  CONSTRAINT idea_revision_editor_fk FOREIGN KEY (editor_id) REFERENCES user (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
