import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, randomUUID, sign } from 'node:crypto';

import { BIN, freshFolder, type HubProcess, removeFolder, startHub } from './hub-process.ts';
import { hold, line } from './report.ts';

const CALLS = 1_000;
const AT_ONCE = 8;

interface Slo {
  requests: number;
  error_budget: { used: number; allowed_failures: number };
}

/** How soon envelopes are answered, from within and from outside, beside the same calls over /v1, and what is left of the error budget. */
export async function benchEnvelope(): Promise<void> {
  const data = freshFolder();
  const hub = await startHub(data, { 'envelope.requests_per_minute': 1_000_000 });
  try {
    const token = hub.token('bench');
    const outsider = registerOutsider(data);
    const plain = await measure(() => post(hub, '/v1/create_document', token, newPage()));
    line('create_document over /v1', `p50 ${at(plain, 0.5)}, p95 ${at(plain, 0.95)}`);
    const internal = await measure(() => post(hub, '/mcp/envelope', token, envelope('bench')));
    line('envelope, internal', `p50 ${at(internal, 0.5)}, p95 ${at(internal, 0.95)}`);
    hold('envelope.internal', quantile(internal, 0.95));
    const external = await measure(() => post(hub, '/mcp/envelope', outsider(), envelope('svc:partner')));
    line('envelope, JWS from outside', `p50 ${at(external, 0.5)}, p95 ${at(external, 0.95)}`);
    hold('envelope.external', quantile(external, 0.95));
    const { requests, error_budget } = await hub.call<Slo>(token, 'get_slo', {});
    const { used, allowed_failures } = error_budget;
    line('error budget', `${(used * 100).toFixed(1)} % used, ${allowed_failures} of ${requests} may fail`);
  } finally {
    await hub.stop();
    removeFolder(data);
  }
}

async function measure(call: () => Promise<void>): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < CALLS; i += AT_ONCE)
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        const started = performance.now();
        await call();
        times.push(performance.now() - started);
      }),
    );
  return times.toSorted((a, b) => a - b);
}

const quantile = (times: readonly number[], share: number): number =>
  times[Math.floor(times.length * share)] ?? 0;

const at = (times: readonly number[], share: number): string => `${quantile(times, share).toFixed(1)} ms`;

async function post({ url }: HubProcess, path: string, token: string, body: unknown): Promise<void> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
}

function newPage() {
  const content = { mime_type: 'text/markdown', body: `# Page\n\n${'words '.repeat(50)}` };
  return { document_id: randomUUID(), parent_id: 'root', content, metadata: { title: 'page' } };
}

function envelope(sub: string) {
  return {
    envelope_version: '2.2',
    request_id: randomUUID(),
    correlation_id: randomUUID(),
    trace_id: `00-${randomUUID().replaceAll('-', '')}-00f067aa0ba902b7-01`,
    tenant_id: 'default',
    principal: { sub, roles: ['editor'] },
    timestamp: new Date().toISOString(),
    ttl_sec: 300,
    idempotency_key: randomUUID(),
    seq: 1,
    action: 'knowledge.create_document',
    action_version: '1.0.0',
    context_id: randomUUID(),
    resource_links: [],
    payload: { schema_version: '1.0', args: newPage() },
  };
}

/** A house outside: each token is a new JWS with a nonce of its own. */
function registerOutsider(data: string): () => string {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const named = ['--kid', 'partner', '--workspace', 'default', '--external', '--role', 'editor'];
  execFileSync(process.execPath, [BIN, 'key', 'add', '--data', data, '--public', '-', ...named], {
    input: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
  });
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return () => {
    const iat = Math.floor(Date.now() / 1_000);
    const claims = { sub: 'svc:partner', aud: 'parley', iat, exp: iat + 300, nonce: randomUUID() };
    const text = `${part({ alg: 'EdDSA', kid: 'partner' })}.${part(claims)}`;
    return `${text}.${sign(null, Buffer.from(text), privateKey).toString('base64url')}`;
  };
}
