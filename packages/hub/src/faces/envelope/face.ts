import type {
  Artifacts,
  CallContext,
  Chance,
  Clock,
  DeliveryQueue,
  Grant,
  Hub,
  Log,
  Profile,
  ShareCount,
} from '@parley/core';
import { type Allowance, createRateWindow, createTurns } from '@parley/core';
import {
  type Caller,
  CONTRACTS,
  Envelope,
  ENVELOPE_ACTIONS,
  type ParleyError,
  type OperationName,
  readTrace,
  tellUnknown,
  type Trace,
  unknownFields,
  fieldsOf,
  isOneOf,
  ENVELOPE_ACTION_NAMES,
} from '@parley/protocol';

import { allow } from '../../allow.ts';
import { peerOf } from '../../auth/peer.ts';
import type { Sender, SenderCheck } from '../../auth/sender.ts';
import { type BodyLimits, type Exchange, HttpRefusal, sendJson } from '../../exchange.ts';
import { type EnvelopeLabels, type EnvelopeMeter, UNKNOWN } from '../../metrics/envelope-metrics.ts';
import { uploadArtifact } from '../../artifacts/upload.ts';
import { requestContext } from '../../request-context.ts';
import type { Deprecations as Endings } from '../../deprecations.ts';
import type { Face } from '../../server.ts';
import { actionSchema, capabilities, envelopeSchema } from './capabilities.ts';
import { argsOf } from './args-of.ts';
import { checkEnvelope, checkTime, type Known, readEnvelope } from './decode.ts';
import { createDeprecations, type DeprecatedAction } from './deprecations.ts';
import { actAs, type Alias } from './principal.ts';
import { EnvelopeRefusal, toWire } from './refusal.ts';
import { namesIn, type SenderNames, traceOf } from './trace.ts';

export interface EnvelopeOptions {
  hub: Hub;
  log: Log;
  sender: SenderCheck;
  /** Operations that are to end; what is said of an action itself goes before. */
  endings: Pick<Endings, 'headers'>;
  deliveryQueue: Pick<DeliveryQueue, 'accept'>;
  artifacts: Pick<Artifacts, 'named' | 'read'>;
  limits: BodyLimits;
  /** Tells other nodes of what callers have spent here, and hears of what they have spent there. */
  share?: ShareCount | undefined;
  settings: {
    requests_per_minute: number;
    max_payload_bytes: number;
    max_query_bytes: number;
    max_artifact_bytes: number;
    max_concurrent: number;
    max_waiting: number;
    max_wait_ms: number;
    deprecated: readonly DeprecatedAction[];
  };
  skewMs: number;
  meter: Pick<EnvelopeMeter, 'answered'>;
  clock: Clock;
  chance: Chance;
}

/** What is known of an exchange when it is answered, well or not. */
interface Standing {
  trace: string;
  /** What the sender calls its envelope, as far as it says so. */
  names: SenderNames;
  allowance?: Allowance;
  /** On whose account it was granted. */
  spender?: string;
  /** What is to be said of an action that will end. */
  notices?: Record<string, string>;
  /** When an envelope began, and what is proved of it so far; only those are counted. */
  begun?: number;
  labels: EnvelopeLabels;
  profile: Profile;
}

type Args = Record<string, unknown>;

const PATHS = ['/mcp/envelope', '/v1/envelope'];
/** Takes the bytes of an artifact as they are, from senders of envelopes. */
const UPLOAD = '/mcp/artifacts';
const CAPABILITIES = ['/mcp/capabilities', '/v1/capabilities'];
const SCHEMAS = '/schemas/mcp/';

/** What an envelope has beside its payload. */
const ENVELOPE_ROOM = 65_536;

/** Envelope v2.2 over HTTP: services and agents of other houses call the same operations. */
export function createEnvelopeFace(options: EnvelopeOptions): Face {
  const { hub, sender, settings, meter } = options;
  const { now, monotonic } = options.clock;
  const limits = { ...options.limits, bytes: settings.max_payload_bytes + ENVELOPE_ROOM };
  const minutes = createRateWindow(settings.requests_per_minute, monotonic);
  const spent = options.share?.('envelope', minutes.charge) ?? (() => {});
  const inTurn = createTurns({
    concurrent: settings.max_concurrent,
    waiting: settings.max_waiting,
    waitMs: settings.max_wait_ms,
  });
  const standings = new WeakMap<Exchange, Standing>();
  const waiting = new Set<AbortController>();
  const deprecations = createDeprecations({ ...options, deprecated: settings.deprecated });
  const reported = JSON.stringify(capabilities(settings));

  function charge(standing: Standing, name: string): void {
    const allowance = minutes.spend(name);
    standing.allowance = allowance;
    if (allowance.waitMs > 0)
      throw new EnvelopeRefusal('RATE_LIMIT_EXCEEDED', 'your calls of this minute are used up', {
        retry_after_ms: allowance.waitMs,
      });
    spent(name);
    standing.spender = name;
  }

  function giveBack(name: string, granted: Allowance): Allowance {
    spent(name, -1);
    return minutes.giveBack(name, granted);
  }

  async function verify({ request }: Exchange, standing: Standing) {
    const unproved = standing.labels;
    const admit = ({ caller, external }: Sender): void => {
      const { agent_id: principal, workspace_id: tenant } = caller;
      standing.labels = { ...standing.labels, tenant, principal };
      if (external) standing.profile = 'external';
      charge(standing, `caller ${tenant} ${principal}`);
    };
    try {
      return await sender.verify(request, admit);
    } catch (error) {
      if (error instanceof EnvelopeRefusal) throw error;
      // Whoever sends a captured JWS again uses up his own minute, not that of the one who made it.
      const { spender, allowance } = standing;
      if (spender !== undefined && allowance !== undefined) giveBack(spender, allowance);
      delete standing.spender;
      standing.labels = unproved;
      charge(standing, `address ${peerOf(request)}`);
      throw error;
    }
  }

  async function handleUpload(exchange: Exchange, standing: Standing): Promise<void> {
    const started = monotonic();
    allow(exchange.request.method, ['POST']);
    const { caller } = await verify(exchange, standing);
    const data = await uploadArtifact(hub, exchange, caller, waiting);
    const usage = { latency_ms: Math.round(monotonic() - started), qdrant_hits: 0 };
    sendJson(exchange, 200, JSON.stringify({ ok: true, data, usage }), headersOf(standing));
  }

  async function handleEnvelope(exchange: Exchange, standing: Standing): Promise<void> {
    const { request } = exchange;
    const started = monotonic();
    standing.begun = started;
    allow(request.method, ['POST']);
    const verified = await verify(exchange, standing);
    const raw = await readEnvelope(exchange, limits, settings);
    const said = fieldsOf(raw);
    standing.trace = traceOf(said['trace_id']);
    standing.names = namesIn(said);
    const envelope = checkEnvelope(raw, settings);
    standing.labels.action = envelope.action;
    sender.checkTenant(verified, envelope.tenant_id);
    const { caller, aliases } = principalOf(verified, envelope);
    const deadline = checkTime(envelope, now(), options.skewMs);
    checkKey(request.headers['idempotency-key'], envelope);
    const { workspace_id } = caller;
    const args = await argsOf(envelope, options.artifacts, { ...limits, bytes: settings.max_artifact_bytes });
    for (const alias of aliases) await deprecations.noteAlias(workspace_id, alias, deadline);
    standing.notices = {
      ...options.endings.headers(ENVELOPE_ACTIONS[envelope.action]),
      ...(await deprecations.checkAction(workspace_id, envelope.action, deadline)),
    };
    const trace = traceFor(standing, request.headers['tracestate']);
    const { request_id, signal } = requestContext(exchange, waiting);
    const context = { request_id, signal, trace, deadline };
    if (wantsLater(request.headers['prefer'])) {
      const accepted = await acceptForLater(caller, verified.grant, envelope, args, context);
      const data = warned(accepted, raw, envelope);
      const usage = { latency_ms: Math.round(monotonic() - started), qdrant_hits: 0 };
      const answer = { ok: true, data, usage, ...standing.names };
      const headers = { ...headersOf(standing), 'preference-applied': 'respond-async' };
      const status = data['ignored'] === true ? 200 : 202;
      sendJson(exchange, status, JSON.stringify(answer), headers);
      meter.answered(standing.labels, standing.profile, monotonic() - started, undefined);
      return;
    }
    const done = await inTurn(`${workspace_id} ${envelope.action}`, caller.agent_id, () =>
      perform(caller, envelope, args, context),
    );
    const data = warned(done, raw, envelope);
    const ms = monotonic() - started;
    const usage = { latency_ms: Math.round(ms), qdrant_hits: hitsOf(data) };
    const answer = { ok: true, data, usage, ...standing.names };
    sendJson(exchange, 200, JSON.stringify(answer), headersOf(standing));
    meter.answered(standing.labels, standing.profile, ms, undefined);
  }

  function perform(
    caller: Caller,
    { action, idempotency_key, context_id, seq }: Known,
    args: Args,
    context: CallContext,
  ): Promise<Record<string, unknown>> {
    const operation = ENVELOPE_ACTIONS[action];
    const ordered = { ...context, order: { context_id, seq } };
    return isRead(operation)
      ? hub.call(caller, operation, args, { ...ordered, read_key: idempotency_key })
      : hub.call(caller, operation, { ...args, idempotency_key }, ordered);
  }

  function acceptForLater(
    caller: Caller,
    grant: Grant | undefined,
    { action, idempotency_key, context_id, seq }: Known,
    args: Args,
    context: CallContext & { deadline: number },
  ): Promise<Record<string, unknown>> {
    const operation = ENVELOPE_ACTIONS[action];
    const input = isRead(operation) ? args : { ...args, idempotency_key };
    const { deadline: expiresAt, trace } = context;
    const order = { context_id, seq };
    const posted = { caller, grant, action, args, idempotency_key, order, expiresAt, trace };
    return hub.acceptForLater(caller, operation, input, context, () => options.deliveryQueue.accept(posted));
  }

  return {
    claims: (path) =>
      PATHS.includes(path) || path === UPLOAD || CAPABILITIES.includes(path) || path.startsWith(SCHEMAS),
    async handle(exchange) {
      const standing = begin(traceOf(exchange.request.headers['traceparent']));
      standings.set(exchange, standing);
      const { path, request } = exchange;
      if (PATHS.includes(path)) return handleEnvelope(exchange, standing);
      if (path === UPLOAD) return handleUpload(exchange, standing);
      allow(request.method, ['GET', 'HEAD']);
      const text = CAPABILITIES.includes(path) ? reported : schemaText(path);
      sendJson(exchange, 200, text, { 'cache-control': 'max-age=60' });
    },
    refuse(exchange, error) {
      const standing = standings.get(exchange) ?? begin(traceOf(undefined));
      standing.allowance ??= minutes.spend(`address ${peerOf(exchange.request)}`);
      // What another limit has refused, too many at once or too many messages, does not count as a call.
      if (error.code === 'RATE_LIMITED' && standing.spender !== undefined)
        standing.allowance = giveBack(standing.spender, standing.allowance);
      const code = refuse(exchange, error, standing);
      const { begun, labels, profile } = standing;
      if (begun !== undefined) meter.answered(labels, profile, monotonic() - begun, code);
    },
    async close() {
      for (const ending of waiting) ending.abort();
    },
  };
}

const isRead = (operation: OperationName): boolean => CONTRACTS[operation].annotations.readOnlyHint;

/** The trace of an envelope, with what its sender calls it: both go with whatever the call writes. */
function traceFor({ trace: traceparent, names }: Standing, tracestate: unknown): Trace {
  return { ...(readTrace(traceparent, tracestate) ?? { traceparent }), ...names };
}

function begin(trace: string): Standing {
  return {
    trace,
    names: {},
    labels: { action: UNKNOWN, tenant: UNKNOWN, principal: UNKNOWN },
    profile: 'internal',
  };
}

/** Writes the refusal and tells its code. */
function refuse(exchange: Exchange, error: ParleyError, standing: Standing): string {
  const { code, status, body } = toWire(error, standing.trace, standing.names);
  const headers = headersOf(standing);
  if (error instanceof HttpRefusal) Object.assign(headers, error.headers);
  const wait = error.details?.['retry_after_ms'];
  if (typeof wait === 'number') headers['retry-after'] = String(Math.max(1, Math.ceil(wait / 1_000)));
  if (status === 401) headers['www-authenticate'] = 'Bearer realm="parley"';
  sendJson(exchange, status, JSON.stringify(body), headers);
  return code;
}

function headersOf({ trace, allowance, notices }: Standing): Record<string, string> {
  return {
    traceparent: trace,
    ...notices,
    ...(allowance === undefined
      ? {}
      : {
          'x-ratelimit-limit': String(allowance.limit),
          'x-ratelimit-remaining': String(allowance.remaining),
        }),
  };
}

/** What was done, and beside it what the envelope says that nobody here knows. */
function warned(data: Record<string, unknown>, raw: unknown, envelope: Known): Record<string, unknown> {
  const unknown = tellUnknown(Envelope, unknownFields(raw, envelope));
  if (unknown.length === 0) return data;
  return { ...data, warnings: [...unknown, ...(Array.isArray(data['warnings']) ? data['warnings'] : [])] };
}

function principalOf(
  { caller: verified, sub }: { caller: Caller; sub: string },
  { principal }: Known,
): { caller: Caller; aliases: Alias[] } {
  if (principal.sub !== sub)
    throw new EnvelopeRefusal('FORBIDDEN', 'principal.sub: differs from whom the token speaks for', {
      field: 'principal.sub',
    });
  const { role, aliases } = actAs(verified, principal.roles);
  return { caller: role === verified.role ? verified : { ...verified, role }, aliases };
}

function checkKey(header: string | string[] | undefined, { idempotency_key }: Known): void {
  if (header === undefined || header === idempotency_key) return;
  throw new EnvelopeRefusal('INVALID_ARGUMENT', 'the header Idempotency-Key differs from idempotency_key', {
    field: 'idempotency_key',
  });
}

/** RFC 7240: the sender would rather have its envelope accepted than wait until it is carried out. */
function wantsLater(prefer: string | string[] | undefined): boolean {
  const said = Array.isArray(prefer) ? prefer.join() : (prefer ?? '');
  return said.split(/[,;]/).some((preference) => preference.trim().toLowerCase() === 'respond-async');
}

/** What the index found for it; most actions do not ask it. */
function hitsOf(data: object): number {
  const { qdrant_hits } = fieldsOf(fieldsOf(data)['usage']);
  return typeof qdrant_hits === 'number' ? qdrant_hits : 0;
}

function schemaText(path: string): string {
  const action = /^([\w.]+)\.json$/.exec(path.slice(SCHEMAS.length))?.[1];
  if (action === 'envelope') return JSON.stringify(envelopeSchema());
  if (!isOneOf(ENVELOPE_ACTION_NAMES, action))
    throw new EnvelopeRefusal('NOT_FOUND', 'there is no such action', {
      hint: 'GET /mcp/capabilities lists the actions',
    });
  return JSON.stringify(actionSchema(action));
}
