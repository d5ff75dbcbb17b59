import { invalidParams, RpcError } from '../errors.ts';
import { VERSION } from '../version.ts';
import type { Params } from '../wire/message.ts';

/** The revision of MCP without sessions and without requests of the server. */
const REVISION = '2026-07-28';

const KEY = 'io.modelcontextprotocol/';
const UNSUPPORTED_VERSION = -32_022;

export const SUBSCRIPTION_ID = `${KEY}subscriptionId`;

/** What this server calls itself, in every revision. */
export const SERVER_INFO = { name: 'atm-agent-mcp', title: 'Codex agents', version: VERSION };

/** True for a request that carries the envelope of the revision; throws where that is wrong. */
export function isModern({ _meta: meta }: Params): boolean {
  if (!isObject(meta) || meta[`${KEY}protocolVersion`] === undefined) return false;
  const requested = meta[`${KEY}protocolVersion`];
  if (requested !== REVISION)
    throw new RpcError(UNSUPPORTED_VERSION, 'Unsupported protocol version', {
      error_source: 'proxy',
      error_name: 'UNSUPPORTED_PROTOCOL_VERSION',
      supported: [REVISION],
      requested: String(requested),
    });
  if (!isObject(meta[`${KEY}clientCapabilities`]))
    throw invalidParams(`_meta: ${KEY}clientCapabilities is missing`);
  return true;
}

/** True where the client of this request can be asked something. */
export function canBeAsked({ _meta: meta }: Params): boolean {
  const capabilities = isObject(meta) ? meta[`${KEY}clientCapabilities`] : undefined;
  return isObject(capabilities) && isObject(capabilities['elicitation']);
}

/** The answer to `server/discover`. */
export function discovery(capabilities: object, instructions: string): Params {
  return { supportedVersions: [REVISION], capabilities, instructions };
}

/** What the revision wants in every result, and in those that a client may keep. */
export function stamped(method: string, result: unknown): unknown {
  if (!isObject(result)) return result;
  const meta = isObject(result['_meta']) ? result['_meta'] : {};
  return {
    resultType: 'complete',
    ...(method.endsWith('/list') || method === 'server/discover' ? { ttlMs: 0, cacheScope: 'private' } : {}),
    ...result,
    _meta: { [`${KEY}serverInfo`]: SERVER_INFO, ...meta },
  };
}

function isObject(value: unknown): value is Params {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
