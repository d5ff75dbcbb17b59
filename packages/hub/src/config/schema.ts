import { ENVELOPE_ACTIONS, type EnvelopeAction, Name } from '@parley/protocol';
import { z } from 'zod';

const ms = (value: number, text: string) =>
  z.number().int().min(0).default(value).describe(`${text}, in milliseconds`);
const whole = (value: number, min: number, text: string) =>
  z.number().int().min(min).default(value).describe(text);
const group = <S extends z.ZodRawShape>(shape: S) => z.strictObject(shape).prefault({} as never);

const plainUrl = (text: string) =>
  z
    .string()
    .default('')
    .refine((url) => url === '' || isPlainUrl(url), {
      error: 'must be an http or https URL without a name, a key or a question in it',
    })
    .describe(text);
const secret = (whose: string) => ({
  api_key_env: z.string().default('').describe(`environment variable that holds the key for ${whose}`),
  api_key_file: z.string().default('').describe(`file that holds the key for ${whose}`),
});

function isPlainUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === '';
}

const Issuer = z.strictObject({
  issuer: z.string().min(1),
  jwks: z.string().min(1).describe('an https URL, or a file with a JWK set'),
  audience: z.string().min(1).default('parley'),
  algorithms: z
    .array(z.enum(['EdDSA', 'Ed25519', 'ES256', 'RS256', 'PS256']))
    .min(1)
    .default(['EdDSA', 'Ed25519']),
});

const WakeAgent = z.strictObject({
  agent: Name,
  workspace: Name.optional(),
  runtime: z.enum(['codex', 'claude', 'other']),
  cwd: z.string().startsWith('/').optional().describe('folder its sessions run in'),
  bin: z.string().min(1).optional().describe('program to start; codex or claude in PATH when left out'),
  home: z.string().startsWith('/').optional().describe('its CODEX_HOME or CLAUDE_CONFIG_DIR'),
  doors: z.array(z.enum(['live', 'resume', 'new'])).default(['live', 'resume']),
  args: z.array(z.string()).default([]).describe('further arguments of what is started'),
  env: z
    .array(
      z.string().regex(/^(?!PARLEY_|ATM_)[A-Za-z_]\w*$/, {
        error: 'must name a variable that is not the hub’s own',
      }),
    )
    .default([])
    .describe('variables of the hub that what is started may see, such as OPENAI_API_KEY'),
  quiet: z.boolean().default(false),
});
export type WakeAgent = z.output<typeof WakeAgent>;

const Deprecated = z.strictObject({
  action: z.enum(Object.keys(ENVELOPE_ACTIONS) as [EnvelopeAction]),
  ends_at: z.iso.datetime({ offset: true }),
  use: z.string().min(1).max(200).optional().describe('what takes its place'),
});

/** Everything that can be set, with its default and one sentence; defaults < TOML file < PARLEY_* < flags. */
export const ConfigSchema = z.strictObject({
  data: z.string().min(1).describe('folder that holds all state; made with mode 0700'),
  host: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('address to listen on; other than loopback needs tls'),
  port: z.number().int().min(0).max(65_535).default(8620).describe('port to listen on; 0 takes a free one'),
  workspace: z
    .string()
    .min(1)
    .default('default')
    .describe('workspace of the local person and of agents that name none'),
  log: group({
    level: z
      .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
      .default('info')
      .describe('how much goes to stderr'),
  }),
  tls: group({
    cert: z.string().default('').describe('PEM file with the certificate chain'),
    key: z.string().default('').describe('PEM file with the private key'),
  }),
  http: group({
    allowed_hosts: z.array(z.string()).default([]).describe('further host names that requests may use'),
    allowed_origins: z.array(z.string()).default([]).describe('further web origins that may call the hub'),
    header_timeout_ms: ms(10_000, 'time a client has to send its headers'),
    request_timeout_ms: ms(60_000, 'time a client has to send a whole request'),
    keep_alive_timeout_ms: ms(75_000, 'how long an idle connection is kept'),
    shutdown_timeout_ms: ms(10_000, 'how long running calls may take to finish after SIGTERM'),
    max_connections: whole(20_000, 1, 'how many sockets may be open at once'),
  }),
  limits: group({
    request_bytes: whole(131_072, 1_024, 'size of a request body'),
    json_depth: z.number().int().min(8).max(256).default(64).describe('how deep JSON may be nested'),
    json_items: whole(20_000, 100, 'how many keys and array items one JSON document may have'),
    queue: whole(4_096, 16, 'how many writes may wait for the disk before callers are told to come back'),
    batch: whole(512, 1, 'how many writes share one fsync at most'),
  }),
  quota: group({
    messages_per_minute: whole(
      6_000,
      1,
      'messages, events, asks, tasks, wakes, documents and files a caller may write in a minute',
    ),
    messages_burst: whole(1_000, 1, 'how many of these at once'),
    writes_per_minute: whole(30_000, 1, 'changes of any other kind a caller may make in a minute'),
    writes_burst: whole(5_000, 1, 'how many of these at once'),
    searches_per_minute: whole(1_200, 1, 'searches and summaries a caller may ask for in a minute'),
    searches_burst: whole(600, 1, 'how many of these at once'),
    open: whole(1_000, 1, 'calls and streams a caller may have open at once'),
    bad_tokens_per_minute: whole(
      600,
      1,
      'refused tokens per address and minute before the address is slowed down',
    ),
    bad_tokens_burst: whole(300, 1, 'refused tokens per address at once'),
    sign_ins_per_minute: whole(
      60,
      1,
      'tries to sign a device in, per address and minute, good ones included',
    ),
    codes_per_minute: whole(600, 1, 'pairing codes tried in a minute, over all addresses'),
  }),
  idempotency: group({
    window_ms: ms(86_400_000, 'how long an idempotency key binds'),
  }),
  sessions: group({
    offline_after_ms: ms(120_000, 'silence after which a session reads offline'),
    stuck_after_ms: ms(60_000, 'silence after which an agent in the middle of work reads stuck'),
    unread_stuck_ms: ms(600_000, 'age of unread messages after which their agent reads stuck'),
  }),
  presence: group({
    ttl_ms: z
      .number()
      .int()
      .min(1_000)
      .max(3_600_000)
      .default(60_000)
      .describe('how long a presence holds unless it is said again, in milliseconds'),
    registry: z
      .string()
      .default('')
      .describe(
        'JSON file with `clients` and `models`, lists of names or objects whose keys they are; others are allowed and remarked upon in the log',
      ),
  }),
  auth: group({
    issuer: z.string().min(1).default('parley').describe('iss of the tokens this hub issues and accepts'),
    audience: z.string().min(1).default('parley').describe('aud of the tokens this hub issues and accepts'),
    clock_skew_ms: ms(30_000, 'tolerance for clocks when times in a token are checked'),
    max_lifetime_ms: ms(2_678_400_000, 'longest lifetime a token may have (31 days)'),
    external_lifetime_ms: z
      .number()
      .int()
      .min(1_000)
      .max(86_400_000)
      .default(900_000)
      .describe('longest lifetime of a JWS from outside, in milliseconds; its nonce is remembered as long'),
    cache: whole(10_000, 0, 'how many verified tokens are remembered'),
    recheck_ms: ms(1_000, 'how often open streams are checked against revocation and expiry'),
    issuers: z.array(Issuer).default([]).describe('further issuers whose tokens are accepted'),
  }),
  mcp: group({
    profile: z.enum(['essential', 'full']).default('essential').describe('which tools MCP clients see'),
    session_idle_ms: ms(1_800_000, 'silence after which a legacy MCP session is dropped'),
    max_sessions: whole(2_000, 1, 'how many legacy MCP sessions may live at once'),
    return_ms: ms(15_000, 'how long a call of `parley mcp` waits for a hub that has gone'),
    conformance: z
      .boolean()
      .default(false)
      .describe('serve the fixtures of the MCP conformance suite instead of the hub'),
  }),
  live: group({
    messages_per_minute: whole(60, 1, 'messages an agent may send over /ws in a minute'),
    messages_burst: whole(60, 1, 'messages an agent may send over /ws at once'),
    frame_bytes: whole(131_072, 1_024, 'size of one message over /ws'),
    fragments: whole(1_024, 1, 'parts in which one message over /ws may come'),
    ping_ms: z
      .number()
      .int()
      .min(50)
      .default(15_000)
      .describe(
        'how often a connection is asked whether it still lives, in milliseconds; one that does not answer until the next time is ended',
      ),
    client_pings: whole(120, 1, 'pings a client may send between two of ours'),
    command_timeout_ms: ms(30_000, 'how long an agent may take to answer a command'),
    max_concurrent: whole(8, 1, 'commands an agent may have in flight when its registration does not say'),
    send_buffer_bytes: whole(1_048_576, 16_384, 'what may wait to be sent to a reader before it is left out'),
    stuck_ms: ms(60_000, 'how long a reader may take nothing before its connection is ended'),
    ticket_ms: z
      .number()
      .int()
      .min(1)
      .max(60_000)
      .default(60_000)
      .describe('lifetime of a ticket for /ws?token=, in milliseconds'),
    mailbox_messages: whole(1_000, 1, 'messages that wait for a client of the HTTP fallback'),
    mailbox_idle_ms: ms(60_000, 'how long a mailbox lives that nobody fetches'),
  }),
  wake: group({
    quiet: z.boolean().default(false).describe('wake nobody unless an operator insists'),
    on_call: z
      .boolean()
      .default(true)
      .describe('wake those whom a message calls upon: by name, by task, by invited_auto'),
    grace_ms: ms(1_000, 'how long one who is called upon has to notice it without being woken'),
    recheck_ms: z
      .number()
      .int()
      .min(20)
      .default(5_000)
      .describe('how often a deferred wake looks again, in milliseconds'),
    quiet_ms: ms(20_000, 'how long a person must have typed nothing before an agent is woken there'),
    max_defer_ms: ms(60_000, 'how long a wake waits for a person to pause'),
    expire_ms: ms(86_400_000, 'how long a wake waits in all, such as for the end of a turn'),
    proof_ms: z
      .number()
      .int()
      .min(100)
      .default(30_000)
      .describe('how long a door may take to prove that it delivered, in milliseconds'),
    return_ms: ms(30_000, 'how long a supervisor that has lost its connection is expected back'),
    repeat_after_ms: ms(600_000, 'how long a wake stands for the same messages before they may wake again'),
    pair_per_hour: whole(30, 1, 'how often one agent may have another woken within an hour'),
    target_per_hour: whole(120, 1, 'how often an agent may be woken by agents within an hour'),
    any_version: z
      .boolean()
      .default(false)
      .describe('use doors also with versions of a runtime that nobody has tried'),
    agents: z
      .array(WakeAgent)
      .default([])
      .describe('how agents are woken that nobody supervises; see docs/waking.md'),
  }),
  notify: group({
    allowed_hosts: z
      .array(z.string().min(1))
      .default([])
      .describe(
        'hosts, with or without a port, that notifications may go to although their address is private or without TLS, such as an ntfy server in your network',
      ),
    contact: z
      .string()
      .regex(/^(?:|mailto:.+@.+|https:\/\/.+)$/, { error: 'must be a mailto: or https: address' })
      .default('')
      .describe('address that push services may turn to, mailto: or https:; empty: the address of the hub'),
    grace_ms: ms(5_000, 'how long a person has to see that a message calls upon them before they are told'),
    look_ms: z
      .number()
      .int()
      .min(100)
      .default(15_000)
      .describe('how often agents are looked at for trouble to tell of, in milliseconds'),
    trouble_after_ms: ms(300_000, 'how long an agent must be stuck before people are told'),
    repeat_ms: ms(1_800_000, 'how long nothing more is told of the trouble of one agent'),
    retry_ms: z
      .number()
      .int()
      .min(10)
      .default(30_000)
      .describe('how long to wait after a failure, in milliseconds; twice as long after each further one'),
    give_up_ms: ms(86_400_000, 'how long what could not be sent is tried again'),
    timeout_ms: ms(10_000, 'how long a push service, ntfy server or webhook may take to answer'),
  }),
  terminal: group({
    quiet_ms: ms(20_000, 'how long a person must have pressed no key before `parley run` types a text'),
    recheck_ms: z
      .number()
      .int()
      .min(10)
      .default(5_000)
      .describe('how often `parley run` looks again at a text that waits, in milliseconds'),
    max_defer_ms: ms(60_000, 'how long a person may keep a text waiting before it is given up'),
    expire_ms: ms(3_600_000, 'how long a text may wait for the program itself before it is given up'),
  }),
  envelope: group({
    requests_per_minute: whole(6_000, 1, 'envelopes a caller may send in a minute'),
    max_payload_bytes: whole(131_072, 1_024, 'size of the payload of an envelope'),
    max_query_bytes: whole(65_536, 1_024, 'size of the payload of an envelope that asks the documents'),
    max_artifact_bytes: whole(1_048_576, 1_024, 'size of arguments that an envelope names by artifact_uri'),
    max_concurrent: whole(10, 1, 'calls of one action that a workspace may have running at once'),
    max_waiting: whole(100, 0, 'calls of one action that may wait for their turn'),
    max_wait_ms: ms(5_000, 'how long they wait'),
    deprecated: z
      .array(Deprecated)
      .default([])
      .describe(
        'actions that are to end: `action`, `ends_at`, `use`; never within 30 days of telling who uses them',
      ),
  }),
  metrics: group({
    token_file: z
      .string()
      .default('')
      .describe(
        'file with a secret of at least 32 characters that lets a scraper read /metrics; empty: none',
      ),
    max_series: whole(
      500,
      10,
      'label sets of envelopes that are told apart; further ones are counted as _other',
    ),
  }),
  artifacts: group({
    max_bytes: whole(104_857_600, 1, 'size of an artifact'),
    types: z
      .array(z.string().regex(/^[a-z0-9]+\/[a-z0-9.+-]+$/, { error: 'must be a MIME type in lower case' }))
      .default([
        'text/plain',
        'text/markdown',
        'text/csv',
        'application/json',
        'application/pdf',
        'application/zip',
        'application/gzip',
        'image/png',
        'image/jpeg',
        'image/gif',
        'image/webp',
      ])
      .describe('MIME types that are taken; pages, SVG and programs do not belong here'),
    bucket: z
      .string()
      .regex(/^$|^(?=.{3,63}$)[a-z0-9]+(-[a-z0-9]+)*-agent-data(-[a-z0-9]+)+-[a-z0-9]+$/, {
        error:
          'must be named <prefix>-agent-data-<purpose>-<env>, in 63 lower-case letters, digits and dashes',
      })
      .default('')
      .describe('bucket of Google Cloud Storage that holds the bytes; empty: the data folder does'),
    endpoint: z
      .url({ protocol: /^https?$/ })
      .default('https://storage.googleapis.com')
      .describe('where the bucket is served'),
    credentials: z
      .string()
      .default('')
      .describe('JSON file of the service account that signs for the bucket'),
  }),
  queue: group({
    tenant_concurrent: whole(8, 1, 'deliveries of one workspace that are carried out at once'),
    concurrent: whole(64, 1, 'deliveries that are carried out at once in all'),
    max_waiting: whole(50_000, 1, 'deliveries of one workspace that may wait'),
    ack_deadline_ms: z
      .number()
      .int()
      .min(10)
      .max(600_000)
      .default(30_000)
      .describe('how long carrying one out may take before it is tried again, in milliseconds'),
    max_attempts: whole(6, 1, 'attempts before a delivery is a dead letter'),
    retry_ms: z
      .number()
      .int()
      .min(1)
      .default(1_000)
      .describe('longest wait after the first failure, in milliseconds; each further one doubles it'),
    retry_max_ms: z
      .number()
      .int()
      .min(1)
      .max(86_400_000)
      .default(60_000)
      .describe('longest wait between two attempts, in milliseconds'),
    keep_done_ms: ms(86_400_000, 'how long the answer of a delivery is kept'),
    keep_dead_ms: ms(2_592_000_000, 'how long a dead letter is kept'),
  }),
  knowledge: group({
    agents_create_under: z
      .array(z.string().min(1))
      .default(['root'])
      .describe('documents under which agents may create others; root is everywhere, an empty list nowhere'),
    sweep_ms: z
      .number()
      .int()
      .min(50)
      .default(3_600_000)
      .describe('how often documents deleted 90 days ago are looked for and purged, in milliseconds'),
    model_idle_ms: z
      .number()
      .int()
      .min(1_000)
      .max(2_147_483_647)
      .default(300_000)
      .describe('how long the search model stays in memory after its last use, in milliseconds'),
    allow_noop: z
      .boolean()
      .default(false)
      .describe('let callers ask query_knowledge for no search (noop_qdrant), to test themselves'),
  }),
  search: group({
    qdrant: group({
      url: plainUrl('Qdrant that keeps the index instead of the data folder; empty: none'),
      ...secret('Qdrant'),
      timeout_ms: ms(10_000, 'how long Qdrant may take for what is not a question'),
    }),
    embeddings: group({
      endpoint: plainUrl(
        'OpenAI-compatible base URL that makes the vectors; empty: the model that comes with the hub',
      ),
      model: z.string().default('').describe('model name for vectors; another one has all vectors made anew'),
      dimensions: z
        .number()
        .int()
        .min(1)
        .max(16_384)
        .default(1_536)
        .describe('how many numbers its vectors have; others are refused'),
      ...secret('the endpoint'),
      timeout_ms: ms(20_000, 'how long the endpoint may take'),
      batch: z.number().int().min(1).max(1_024).default(32).describe('how many texts it is sent at once'),
      english_only: z
        .boolean()
        .default(false)
        .describe('its model knows English alone: other texts are left to their words'),
    }),
    messages: group({
      index: z
        .enum(['asked', 'always', 'never'])
        .default('asked')
        .describe('when messages are indexed by meaning: from the first hybrid search on, always, or never'),
      keep: whole(20_000, 100, 'how many of the newest entries of the log that index holds'),
    }),
  }),
  answer: group({
    endpoint: z
      .string()
      .default('')
      .describe(
        'OpenAI-compatible base URL that may write answers from documents; empty: their own sentences',
      ),
    model: z.string().default('').describe('model name for answers'),
    api_key_env: z.string().default('').describe('environment variable that holds the key for the endpoint'),
  }),
  summary: group({
    endpoint: z
      .string()
      .default('')
      .describe('OpenAI-compatible base URL that may write summaries; empty: none'),
    model: z.string().default('').describe('model name for summaries'),
    api_key_env: z.string().default('').describe('environment variable that holds the key for the endpoint'),
    timeout_ms: ms(20_000, 'how long the model may take before the rules write the summary'),
  }),
});

export type Config = z.output<typeof ConfigSchema>;
