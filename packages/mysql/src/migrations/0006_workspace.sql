CREATE TABLE workspace (
  id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  client_id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name VARCHAR(120) NOT NULL,
  description VARCHAR(2000) NOT NULL DEFAULT '',
  version INT UNSIGNED NOT NULL DEFAULT 1,
  created_by VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NULL,
  archived_at DATETIME(6) NULL,
  created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  updated_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (id),
  KEY workspace_client (client_id),
  KEY workspace_name (name, id),
  CONSTRAINT workspace_client_fk FOREIGN KEY (client_id) REFERENCES client (id),
  CONSTRAINT workspace_creator_fk FOREIGN KEY (created_by) REFERENCES user (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
