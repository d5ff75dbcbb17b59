import { CALL_FACTS, type OperationName } from '@parley/protocol';
import * as z from 'zod';

import { AUTH } from './run-defaults.ts';
import { group, ms, origin, whole } from './setting-kinds.ts';

const Issuer = z.strictObject({
  issuer: z.string().min(1),
  jwks: z.string().min(1).describe('an https URL, or a file with a JWK set'),
  audience: z.string().min(1).default('parley'),
  algorithms: z
    .array(z.enum(['EdDSA', 'Ed25519', 'ES256', 'RS256', 'PS256']))
    .min(1)
    .default(['EdDSA', 'Ed25519']),
});

/** How the hub listens, what it takes in, and whom it lets in. */
export const SERVER = {
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
  lan: group({
    enabled: z
      .boolean()
      .default(false)
      .describe(
        'serve the dashboard on the local network as well, with a certificate of its own authority; parley serve --lan',
      ),
    address: z
      .string()
      .default('')
      .describe('IPv4 address on the local network; empty: the one this machine has'),
    name: z
      .string()
      .default('')
      .describe("name on the local network, such as desk.local; empty: this machine's own with .local"),
    port: z
      .number()
      .int()
      .min(0)
      .max(65_535)
      .default(8643)
      .describe('port of the dashboard on the local network'),
    setup_port: z
      .number()
      .int()
      .min(0)
      .max(65_535)
      .default(8644)
      .describe('port of the plain page that installs the authority'),
  }),
  http: group({
    base_url: origin(
      'where people and programs reach this hub, such as the balancer before several nodes: links name it; empty: the first https of http.allowed_origins, else where it listens',
    ),
    allowed_hosts: z.array(z.string()).default([]).describe('further host names that requests may use'),
    allowed_origins: z
      .array(z.string())
      .default([])
      .describe(
        'further web origins, such as https://desk.example, whose pages may call the hub with a token (CORS, no cookies)',
      ),
    deprecated: z
      .array(
        z.strictObject({
          // A table written out in the source, with a line for each operation.
          operation: z.enum(Object.keys(CALL_FACTS) as [OperationName, ...OperationName[]]),
          announced_at: z.iso.datetime(),
          ends_at: z.iso.datetime(),
          use: z.string().min(1).optional(),
        }),
      )
      .default([])
      .describe('operations that are to end: their answers carry Deprecation and Sunset'),
    header_timeout_ms: ms(10_000, 'time a client has to send its headers'),
    request_timeout_ms: ms(60_000, 'time a client has to send a whole request'),
    keep_alive_timeout_ms: ms(75_000, 'how long an idle connection is kept'),
    shutdown_timeout_ms: ms(10_000, 'how long running calls may take to finish after SIGTERM'),
    max_connections: whole(20_000, 1, 'how many sockets may be open at once'),
  }),
  limits: group({
    request_bytes: whole(131_072, 1_024, 'size of a request body'),
    document_request_bytes: whole(
      2_228_224,
      1_024,
      'size of a request body on /v1 that creates, updates or imports documents',
    ),
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
  auth: group({
    issuer: z.string().min(1).default(AUTH.issuer).describe('iss of the tokens this hub issues and accepts'),
    audience: z
      .string()
      .min(1)
      .default(AUTH.audience)
      .describe('aud of the tokens this hub issues and accepts'),
    clock_skew_ms: ms(30_000, 'tolerance for clocks when times in a token are checked'),
    max_lifetime_ms: ms(AUTH.max_lifetime_ms, 'longest lifetime a token may have (31 days)'),
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
};
