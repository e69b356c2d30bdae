CREATE TABLE collection_version (
  -- room: members and ideas of a workspace; rated: its ratings; own: one person's in it; user: a person's workspaces.
  scope VARCHAR(8) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  id VARCHAR(160) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  -- A collection's version is the sum over its shards, so that changes of different things in it do not wait for each other.
  shard TINYINT UNSIGNED NOT NULL,
  version BIGINT UNSIGNED NOT NULL DEFAULT 1,
  PRIMARY KEY (scope, id, shard)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci;
