CREATE TABLE session (
  id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  userId VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  token VARCHAR(255) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  expiresAt DATETIME(3) NOT NULL,
  ipAddress VARCHAR(64) NULL,
  userAgent VARCHAR(1024) NULL,
  createdAt DATETIME(3) NOT NULL,
  updatedAt DATETIME(3) NOT NULL,
  PRIMARY KEY (id),
  UNIQUE KEY session_token (token),
  KEY session_user (userId),
  KEY session_expires (expiresAt),
  CONSTRAINT session_user_fk FOREIGN KEY (userId) REFERENCES user (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
