CREATE TABLE invitation (
  id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  workspace_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  email VARCHAR(254) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  role VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  token_hash BINARY(32) NOT NULL,
  invited_by VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- 1 while open, NULL once accepted, revoked or expired: one open invitation for each address.
  open_mark TINYINT UNSIGNED NULL DEFAULT 1,
  accepted_by VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  closed_at DATETIME(6) NULL,
  expires_at DATETIME(6) NOT NULL,
  created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (id),
  UNIQUE KEY invitation_token (token_hash),
  UNIQUE KEY invitation_open (workspace_id, email, open_mark),
  CONSTRAINT invitation_workspace_fk FOREIGN KEY (workspace_id) REFERENCES workspace (id),
  CONSTRAINT invitation_inviter_fk FOREIGN KEY (invited_by) REFERENCES user (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
