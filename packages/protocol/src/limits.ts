/** Bounds that belong to the words themselves; the configurable ones stand in the hub's configuration. */
export const LIMITS = {
  title_bytes: 500,
  participants: 1_000,
  body_bytes: 65_536,
  metadata_bytes: 32_768,
  idempotency_key_bytes: 255,
  reason_bytes: 2_000,
  page_default: 50,
  page_max: 200,
  page_bytes: 1_048_576,
  summary_default: 200,
  summary_max: 10_000,
  summary_bytes: 4_194_304,
  wait_default_ms: 30_000,
  wait_max_ms: 300_000,
  query_bytes: 1_000,
  option_bytes: 200,
  open_asks: 200,
  document_bytes: 1_048_576,
  documents_at_once: 200,
  tags: 64,
  tag_bytes: 100,
  source_bytes: 1_000,
  mask_paths: 64,
  document_links: 200,
  question: 2_048,
  artifact_name_bytes: 255,
  signed_url_sec: 900,
} as const;

/** The message schema versions this hub understands. */
export const SCHEMA_VERSIONS = [1] as const;
