import {
  CONTRACTS,
  decodeJson,
  Envelope,
  ENVELOPE_ACTIONS,
  ENVELOPE_VERSIONS,
  type EnvelopeAction,
  LIMITS,
  ParleyError,
  fieldsOf,
  isOneOf,
  issueWords,
} from '@parley/protocol';

import { type BodyLimits, type Exchange, HttpRefusal, readJsonText } from '../../exchange.ts';
import { payloadLimit } from './capabilities.ts';
import { EnvelopeRefusal } from './refusal.ts';

type PayloadLimits = Parameters<typeof payloadLimit>[1] & { max_artifact_bytes: number };

/** An envelope whose action is known. */
export type Known = Envelope & { action: EnvelopeAction };

/** What to do with more than an envelope holds. */
const byArtifact = ({ max_artifact_bytes }: PayloadLimits): string =>
  `keep the arguments as a JSON artifact (POST /mcp/artifacts, artifact.sign) and send its artifact_uri and artifact_hash instead of args; ${max_artifact_bytes} bytes are taken that way`;

/** No question is that long: nothing but a shorter one helps. */
const SHORTER = `ask with at most ${LIMITS.question} characters`;

/** Reads an envelope; whatever is wrong with it is said in its own words. */
export async function readEnvelope(
  exchange: Exchange,
  limits: BodyLimits,
  settings: PayloadLimits,
): Promise<unknown> {
  try {
    return decodeJson(await readJsonText(exchange, limits.bytes), limits);
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    const details =
      error instanceof HttpRefusal && error.status === 413 ? { hint: byArtifact(settings) } : error.details;
    throw new EnvelopeRefusal('INVALID_ARGUMENT', error.message, details);
  }
}

/** The envelope, if it is one of ours: version, fields, action and its version. */
export function checkEnvelope(raw: unknown, limits: PayloadLimits): Known {
  const said = fieldsOf(raw);
  const { envelope_version: version } = said;
  if (typeof version === 'string' && !isOneOf(ENVELOPE_VERSIONS, version))
    throw new EnvelopeRefusal('INVALID_ARGUMENT', 'this envelope_version is not understood', {
      hint: `use envelope_version ${ENVELOPE_VERSIONS.join(' or ')}`,
      supported: ENVELOPE_VERSIONS,
    });
  const parsed = Envelope.safeParse(raw);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const field = issue?.path.map(String).join('.') || 'envelope';
    const reason = `${field}: ${issueWords(issue, raw)}`;
    throw new EnvelopeRefusal('INVALID_ARGUMENT', reason, { field });
  }
  const envelope = parsed.data;
  if (!isAction(envelope.action))
    throw new EnvelopeRefusal('INVALID_ARGUMENT', 'there is no such action', {
      hint: `the actions are ${Object.keys(ENVELOPE_ACTIONS).join(', ')}`,
    });
  const supported = CONTRACTS[ENVELOPE_ACTIONS[envelope.action]].version;
  if (envelope.action_version !== supported)
    throw new EnvelopeRefusal('INVALID_ARGUMENT', 'this action_version is not supported', {
      hint: `use action_version ${supported}`,
      supported: [supported],
    });
  const maxPayloadBytes = payloadLimit(envelope.action, limits);
  const bytes = Buffer.byteLength(JSON.stringify(envelope.payload));
  if (bytes > maxPayloadBytes)
    throw new EnvelopeRefusal(
      'INVALID_ARGUMENT',
      `payload: has ${bytes} bytes, at most ${maxPayloadBytes} are taken`,
      {
        field: 'payload',
        hint: envelope.action === 'knowledge.query_knowledge' ? SHORTER : byArtifact(limits),
      },
    );
  return { ...envelope, action: envelope.action };
}

/** Until when the envelope is good; refuses one that is too late by now, or from too far ahead. */
export function checkTime({ timestamp, ttl_sec }: Envelope, now: number, skewMs: number): number {
  const at = Date.parse(timestamp);
  const deadline = at + ttl_sec * 1_000;
  if (at > now + skewMs)
    throw new EnvelopeRefusal('INVALID_ARGUMENT', 'timestamp: lies in the future', { field: 'timestamp' });
  if (deadline < now)
    throw new EnvelopeRefusal('EXPIRED', `the envelope was good until ${new Date(deadline).toISOString()}`);
  return deadline;
}

function isAction(name: string): name is EnvelopeAction {
  return Object.hasOwn(ENVELOPE_ACTIONS, name);
}
