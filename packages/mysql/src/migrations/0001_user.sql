CREATE TABLE user (
  id VARCHAR(64) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  name VARCHAR(200) NOT NULL,
  -- Addresses are stored in lower case and compared byte by byte: a and ä are two letters here.
  email VARCHAR(254) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
  email_verified BOOLEAN NOT NULL DEFAULT FALSE,
  image VARCHAR(2048) NULL,
  role VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NOT NULL DEFAULT 'user',
  locale VARCHAR(16) CHARACTER SET ascii COLLATE ascii_bin NULL,
  event_version INT UNSIGNED NOT NULL DEFAULT 0,
  -- When user.registered was written; the account itself is made by the auth library in its own transaction.
  announced_at DATETIME(6) NULL,
  created_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  updated_at DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6),
  PRIMARY KEY (id),
  UNIQUE KEY user_email (email),
  KEY user_announced (announced_at, created_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
