CREATE TABLE audit (
  id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
  actor_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  action VARCHAR(120) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  target_type VARCHAR(32) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  target_id VARCHAR(160) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  workspace_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  -- Only the actor sees it in the activity of the workspace: what happens to a draft.
  private BOOLEAN NOT NULL DEFAULT FALSE,
  detail JSON NOT NULL,
  request_id VARCHAR(64) NULL,
  created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (id),
  KEY audit_workspace (workspace_id, id),
  KEY audit_target (target_type, target_id, id),
  KEY audit_actor (actor_id, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
