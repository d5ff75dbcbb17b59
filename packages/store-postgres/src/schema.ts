/** Tables that have a workspace. Words have none of it: an index of words is of no use behind a wall, and who finds a word reads its entry. */
export const WALLED = [
  'workspaces',
  'threads',
  'participants',
  'entries',
  'cursors',
  'records',
  'idempotency',
] as const;

/** Each setting is read once for a statement, not for each row. Keys from before the wall have no workspace; they go with their time. */
function wallAround(table: (typeof WALLED)[number]): string {
  const old = table === 'idempotency' ? 'workspace_id IS NULL OR ' : '';
  return `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY;

ALTER TABLE ${table} FORCE ROW LEVEL SECURITY;

CREATE POLICY workspaces ON ${table} USING (${old}(SELECT current_setting('parley.every_workspace', true)) = 'on'
  OR workspace_id = ANY ((SELECT nullif(current_setting('parley.workspaces', true), ''))::text[]));`;
}

/**
 * Every migration in order; the schema version is how many have run. Forward only. Texts are ordered by their bytes, as
 * everywhere in Parley, and JSON stays the text that was hashed. Nodes of the release before go on over it: a step that
 * they cannot live with raises `OLDEST_SERVED` to itself.
 */
export const MIGRATIONS: readonly string[] = [
  `
CREATE TABLE workspaces (
  workspace_id text COLLATE "C" PRIMARY KEY,
  pos bigint NOT NULL,
  sum text NOT NULL
);

CREATE TABLE threads (
  thread_id text COLLATE "C" PRIMARY KEY,
  workspace_id text COLLATE "C" NOT NULL,
  -- The position of its first entry: of two threads of one moment the younger has the higher.
  born bigint NOT NULL,
  status text NOT NULL,
  state text NOT NULL,
  sum text NOT NULL,
  side_of text COLLATE "C",
  -- The workspace whose list it stands in; null for what is no conversation.
  listed_in text COLLATE "C",
  last_seq integer NOT NULL,
  updated_at text COLLATE "C" NOT NULL,
  hash text NOT NULL,
  head_sum text NOT NULL
);
CREATE INDEX threads_by_recency ON threads (listed_in, updated_at DESC, born DESC) WHERE listed_in IS NOT NULL;
CREATE INDEX threads_by_main ON threads (workspace_id, side_of) WHERE side_of IS NOT NULL;

CREATE TABLE participants (
  workspace_id text COLLATE "C" NOT NULL,
  agent_id text COLLATE "C" NOT NULL,
  thread_id text COLLATE "C" NOT NULL REFERENCES threads (thread_id),
  PRIMARY KEY (workspace_id, agent_id, thread_id)
);

CREATE TABLE entries (
  thread_id text COLLATE "C" NOT NULL REFERENCES threads (thread_id),
  seq integer NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  pos bigint NOT NULL,
  reply_to integer,
  sender text COLLATE "C" NOT NULL,
  -- How many entries of its sender the thread has up to and with this one.
  nth integer NOT NULL,
  hash text NOT NULL,
  json text NOT NULL,
  sum text NOT NULL,
  PRIMARY KEY (thread_id, seq),
  UNIQUE (workspace_id, pos)
);
CREATE INDEX entries_by_reply ON entries (thread_id, reply_to) WHERE reply_to IS NOT NULL;
CREATE INDEX entries_by_sender ON entries (thread_id, sender, seq) INCLUDE (nth, sum);

CREATE TABLE words (
  workspace_id text COLLATE "C" NOT NULL,
  pos bigint NOT NULL,
  thread_id text COLLATE "C" NOT NULL,
  seq integer NOT NULL,
  tokens tsvector NOT NULL,
  PRIMARY KEY (workspace_id, pos)
);
CREATE INDEX words_by_token ON words USING gin (tokens);

CREATE FUNCTION parley_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'the log is append-only'; END $$;
CREATE TRIGGER entries_stay BEFORE UPDATE OR DELETE ON entries FOR EACH ROW EXECUTE FUNCTION parley_append_only();
CREATE TRIGGER entries_are_not_emptied BEFORE TRUNCATE ON entries EXECUTE FUNCTION parley_append_only();

CREATE TABLE cursors (
  thread_id text COLLATE "C" NOT NULL REFERENCES threads (thread_id),
  agent_id text COLLATE "C" NOT NULL,
  last_read_seq integer NOT NULL,
  last_acked_message_id text,
  updated_at text NOT NULL,
  sum text NOT NULL,
  PRIMARY KEY (thread_id, agent_id)
);

CREATE TABLE records (
  kind text COLLATE "C" NOT NULL,
  workspace_id text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  mark text COLLATE "C" NOT NULL,
  owner text COLLATE "C" NOT NULL,
  json text NOT NULL,
  sum text NOT NULL,
  -- The moment from which something is to be done about it, by the kind's own field: a time, or milliseconds.
  due_at text COLLATE "C",
  due_ms double precision,
  delete_at text COLLATE "C",
  heard_at text COLLATE "C",
  PRIMARY KEY (kind, workspace_id, key)
);
CREATE INDEX records_by_mark ON records (kind, mark, workspace_id, key);
CREATE INDEX records_by_owner ON records (kind, workspace_id, owner, mark, key);
CREATE INDEX records_by_time ON records (kind, mark, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX records_by_moment ON records (kind, mark, due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX records_by_agent ON records (workspace_id, owner)
  WHERE kind IN ('agent', 'session') OR (kind = 'ask' AND mark = 'open');
CREATE INDEX sessions_by_heartbeat ON records (workspace_id, owner, heard_at DESC) WHERE kind = 'session';

CREATE TABLE idempotency (
  name text COLLATE "C" PRIMARY KEY,
  fingerprint text NOT NULL,
  at bigint NOT NULL,
  result text NOT NULL,
  sum text NOT NULL
);
CREATE INDEX idempotency_by_age ON idempotency (at);
`,
  `
CREATE TABLE kept_files (
  name text COLLATE "C" PRIMARY KEY,
  revision bigint NOT NULL,
  text text NOT NULL,
  sum text NOT NULL
);
`,
  // The wall between workspaces: whoever is connected sees those that it has named, and without a word none.
  `
ALTER TABLE cursors ADD COLUMN workspace_id text COLLATE "C";

UPDATE cursors c SET workspace_id = t.workspace_id FROM threads t WHERE t.thread_id = c.thread_id;

ALTER TABLE cursors ALTER COLUMN workspace_id SET NOT NULL;

ALTER TABLE idempotency ADD COLUMN workspace_id text COLLATE "C";

CREATE FUNCTION parley_elsewhere(ids text[], OUT any_thread boolean, OUT known text[]) LANGUAGE plpgsql AS $$
DECLARE before text := coalesce(current_setting('parley.every_workspace', true), '');
BEGIN
  PERFORM set_config('parley.every_workspace', 'on', true);
  any_thread := EXISTS (SELECT 1 FROM threads);
  known := ARRAY(SELECT thread_id FROM threads WHERE thread_id = ANY (ids));
  PERFORM set_config('parley.every_workspace', before, true);
END $$;

${WALLED.map((table) => wallAround(table)).join('\n\n')}
`,
  // What agents were at, by agent in the order of time.
  `
CREATE INDEX agent_states_by_owner ON records (workspace_id, owner, key) WHERE kind = 'agent_state';
`,
];

/** The oldest schema whose nodes may go on over this one. */
export const OLDEST_SERVED = 3;
