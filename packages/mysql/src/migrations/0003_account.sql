CREATE TABLE account (
  id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  userId VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  accountId VARCHAR(255) NOT NULL,
  providerId VARCHAR(64) NOT NULL,
  accessToken TEXT NULL,
  refreshToken TEXT NULL,
  idToken TEXT NULL,
  accessTokenExpiresAt DATETIME(3) NULL,
  refreshTokenExpiresAt DATETIME(3) NULL,
  scope TEXT NULL,
  password VARCHAR(512) NULL,
  createdAt DATETIME(3) NOT NULL,
  updatedAt DATETIME(3) NOT NULL,
  PRIMARY KEY (id),
  KEY account_user (userId),
  CONSTRAINT account_user_fk FOREIGN KEY (userId) REFERENCES user (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
