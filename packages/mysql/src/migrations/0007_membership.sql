CREATE TABLE membership (
  workspace_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  user_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  role VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  event_version INT UNSIGNED NOT NULL DEFAULT 1,
  -- A leaver's row stays, so that event versions go on and ratings can count again on return.
  removed_at DATETIME(6) NULL,
  created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (workspace_id, user_id),
  KEY membership_user (user_id, workspace_id),
  CONSTRAINT membership_workspace_fk FOREIGN KEY (workspace_id) REFERENCES workspace (id),
  CONSTRAINT membership_user_fk FOREIGN KEY (user_id) REFERENCES user (id),
  CONSTRAINT membership_role CHECK (role IN ('owner', 'editor', 'member', 'viewer'))
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
