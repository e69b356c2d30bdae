ALTER TABLE outbox
  ADD COLUMN republished SMALLINT UNSIGNED NOT NULL DEFAULT 0,
  ADD KEY outbox_stream (stream_seq)
