import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';

import { ENVELOPE_STATUS } from '@parley/protocol';
import { describe, expect, test } from 'vitest';

import { atClock, CLOCK_ENV } from '../harness/other-clock.ts';
import { send } from '../harness/send.ts';
import { freshFolder, startHub } from '../harness/start-hub.ts';
import { claimsOf, registerByCommand } from '../harness/tokens.ts';
import { useHub } from '../harness/use-hub.ts';
import { describeWith } from '../tools/describe-with.ts';
import { type EnvelopeAnswer, envelopeOf, type Fields, good, sendEnvelope } from './envelope-client.ts';

const example = (name: string): string =>
  readFileSync(new URL(`data/contract/${name}`, import.meta.url), 'utf8');
/** An example with the remarks in it replaced. */
const filled = (name: string, remark = '{}'): Fields =>
  JSON.parse(example(name).replace(/\{ \/\*[^*]*\*\/ \}/, remark)) as Fields;

const scene = useHub({
  settings: { 'knowledge.allow_noop': true, 'envelope.requests_per_minute': 100_000 },
});
const ed = () => scene.as('ed', { role: 'orchestrator', workspace: 'w1' }).token;
const call = (action: string, args: Fields, more: Fields = {}) =>
  sendEnvelope(scene.hub.url, ed(), envelopeOf(action, args, more));

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const uuid = expect.stringMatching(UUID) as unknown;
const TRACE = expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/) as unknown;
const some = (type: unknown) => expect.any(type) as unknown;

/** An answer against a form of §4: exactly its fields, and the names that the sender gave. */
function expectForm({ body }: EnvelopeAnswer, form: Fields): void {
  const { request_id, correlation_id, ...rest } = body as unknown as Fields;
  expect([request_id, correlation_id]).toEqual([uuid, uuid]);
  expect(Object.keys(rest).toSorted()).toEqual(Object.keys(form).toSorted());
  for (const [name, part] of Object.entries(form)) {
    if (name === 'ok') expect(rest[name]).toBe(part);
    else if (name !== 'data')
      for (const [field, value] of Object.entries(part as Fields))
        expect([name, field, typeof (rest[name] as Fields)[field]]).toEqual([name, field, typeof value]);
  }
  const { details } = (form['error'] ?? {}) as { details?: Fields };
  for (const field of Object.keys(details ?? {}))
    expect((rest['error'] as { details: Fields }).details[field]).toMatch(/\S/);
}

describe('[KNOW-4] [KNOW-11] the envelope of §2', () => {
  test('word for word it is refused for its remark, then for its placeholders, each named', async () => {
    const asItStands = await sendEnvelope(scene.hub.url, ed(), example('envelope.txt'));
    expect([asItStands.status, asItStands.body]).toEqual([
      400,
      {
        ok: false,
        error: {
          code: 'INVALID_ARGUMENT',
          message: some(String),
          details: { hint: some(String), trace_id: TRACE },
        },
      },
    ]);
    const envelope = filled('envelope.txt');
    for (const field of ['request_id', 'correlation_id']) {
      const { status, body } = await sendEnvelope(scene.hub.url, ed(), envelope);
      expect([status, body.error?.code, body.error?.details['field']]).toEqual([
        400,
        'INVALID_ARGUMENT',
        field,
      ]);
      envelope[field] = randomUUID();
    }
    const late = { ...envelope, tenant_id: 'w1', principal: { sub: 'ed', roles: ['agent', 'editor'] } };
    const { status, body } = await sendEnvelope(scene.hub.url, ed(), late);
    expect([status, body.error?.code, body.error?.message]).toEqual([
      440,
      'EXPIRED',
      'the envelope was good until 2025-09-17T02:05:00.000Z',
    ]);
    expectForm({ status, body } as EnvelopeAnswer, filled('error.txt'));
  });
});

describeWith(['faketime'], 'the envelope of §2 in its own time', ({ faketime }) => {
  test('[KNOW-4] [KNOW-11] [KNOW-13] with its placeholders filled it makes a document, and the log bears its names', async () => {
    const data = freshFolder();
    const at = Date.parse('2025-09-17T02:00:30Z');
    const wrapper = atClock(faketime, `-${Math.round((Date.now() - at) / 1_000)}s`);
    const hub = await startHub({ data, wrapper, env: CLOCK_ENV });
    const signer = await registerByCommand('contract', { data, wrapper, env: CLOCK_ENV });
    const who = { agent: 'svc:agent-cskh', role: 'orchestrator', workspace: 'acme' };
    const token = signer.craft(claimsOf(who, at));
    const args = instanceOf(schemaOf('create_document'));
    const envelope: Fields = {
      ...filled('envelope.txt', JSON.stringify(args)),
      request_id: randomUUID(),
      correlation_id: randomUUID(),
    };
    const { request_id, correlation_id } = envelope;
    const first = await sendEnvelope(hub.url, token, envelope);
    expect([first.status, first.body]).toEqual([
      200,
      {
        ok: true,
        data: {
          id: args['document_id'],
          revision: 1,
          web_uri: `${hub.url}/d/${String(args['document_id'])}`,
        },
        usage: { latency_ms: some(Number), qdrant_hits: 0 },
        request_id,
        correlation_id,
      },
    ]);
    expectForm(first, filled('success.txt'));
    // The word "traceparent" is no trace: a new one is made and told.
    expect(first.headers['traceparent']).toEqual(TRACE);
    const again = await sendEnvelope(hub.url, token, envelope);
    expect(again.body.data).toEqual(first.body.data);
    expect(await hub.stop()).toBe(0);
  }, 120_000);
});

test('[KNOW-20] the capabilities of Appendix D are told, field by field', async () => {
  const wanted = filled('capabilities.txt') as { actions: Fields[] };
  const reported = JSON.parse((await send(`${scene.hub.url}/mcp/capabilities`)).text) as typeof wanted;
  expect(Object.keys(reported).toSorted()).toEqual(Object.keys(wanted).toSorted());
  for (const field of ['envelope_versions', 'transports'])
    expect((reported as Fields)[field]).toEqual((wanted as Fields)[field]);
  for (const action of wanted.actions)
    expect(reported.actions.find((one) => one['action'] === action['action'])).toMatchObject(action);
});

test('[KNOW-11] the codes of Appendix A and their numbers', () => {
  expect(ENVELOPE_STATUS).toEqual(JSON.parse(example('error-codes.json')));
});

/** What a schema of the contract says. */
interface Schema {
  type?: string | string[];
  $ref?: string;
  required?: string[];
  properties?: Record<string, Schema>;
  definitions?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
  enum?: unknown[];
  format?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
}

const schemaOf = (action: string): Schema => JSON.parse(example(`${action}.txt`)) as Schema;

/** Holds a published schema against that of the contract; what it says beyond it may narrow texts, not fields. */
function expectSchema(ours: Schema | undefined, wanted: Schema, whole: Schema, path: string): void {
  const resolved =
    wanted.$ref === undefined ? wanted : whole.definitions?.[wanted.$ref.split('/').at(-1) ?? ''];
  const shown = ours?.anyOf?.find(({ type }) => type === resolved?.type) ?? ours;
  // What may be null besides, to be removed by a patch, is still of its type.
  const type = Array.isArray(shown?.type) ? shown.type.find((one) => one !== 'null') : shown?.type;
  for (const word of ['type', 'format', 'default', 'minimum', 'maximum'] as const)
    if (resolved?.[word] !== undefined)
      expect([path, word, word === 'type' ? type : shown?.[word]]).toEqual([path, word, resolved[word]]);
  if (resolved?.enum !== undefined) expect([path, shown?.enum]).toEqual([path, resolved.enum]);
  if (resolved?.required !== undefined)
    expect([path, shown?.required?.toSorted()]).toEqual([path, resolved.required.toSorted()]);
  // A patch may hold anything: what must come of it is asked when it is merged.
  if (path.startsWith('patch.')) return;
  for (const [name, inner] of Object.entries(resolved?.properties ?? {}))
    expectSchema(shown?.properties?.[name], inner, whole, path === '' ? name : `${path}.${name}`);
  if (resolved?.items !== undefined) expectSchema(shown?.items, resolved.items, whole, `${path}[]`);
}

/** The fullest arguments that a schema names. */
function instanceOf(schema: Schema, whole = schema): Fields {
  const value = (name: string, one: Schema): unknown => {
    if (one.$ref !== undefined)
      return value(name, whole.definitions?.[one.$ref.split('/').at(-1) ?? ''] ?? {});
    if (one.enum !== undefined) return one.enum[0];
    if (one.type === 'object') return instanceOf(one, whole);
    if (one.type === 'array') return [value(name, one.items ?? {})];
    if (one.type === 'boolean') return one.default ?? true;
    if (one.type === 'integer') return one.default ?? one.minimum ?? 0;
    if (one.format === 'uuid') return randomUUID();
    if (one.format === 'date-time') return '2025-09-17T02:00:00Z';
    if (name === 'parent_id' || name === 'new_parent_id') return 'root';
    return name === 'mime_type' ? 'text/markdown' : `a ${name}`;
  };
  return Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, one]) => [name, value(name, one)]),
  );
}

const ACTIONS = ['create_document', 'update_document', 'delete_document', 'move_document', 'query_knowledge'];

test.each(ACTIONS)('[KNOW-18] the schema of %s says what the contract says', async (action) => {
  const { status, text } = await send(`${scene.hub.url}/schemas/mcp/knowledge.${action}.json`);
  expect(status).toBe(200);
  const wanted = schemaOf(action);
  expectSchema(JSON.parse(text) as Schema, wanted, wanted, '');
});

describe('the arguments of §8, each field named, and their answers', () => {
  const args = (action: string) => instanceOf(schemaOf(action));
  async function made(): Promise<string> {
    const page = args('create_document');
    const answer = await call('knowledge.create_document', page);
    expect(answer.body.data).toEqual({
      id: page['document_id'],
      revision: 1,
      web_uri: `${scene.hub.url}/d/${String(page['document_id'])}`,
    });
    expectForm(answer, filled('success.txt'));
    return String(page['document_id']);
  }

  test('[KNOW-13] create_document keeps every field', async () => {
    const id = await made();
    const { data } = (await call('knowledge.get_document', { document_id: id })).body;
    expect(data?.['document']).toMatchObject({
      document_id: id,
      parent_id: 'root',
      content: { mime_type: 'text/markdown', body: 'a body' },
      metadata: { title: 'a title', tags: ['a tags'], source: 'a source' },
      is_human_readable: true,
      created_at: '2025-09-17T02:00:00.000Z',
    });
  });

  test('[KNOW-14] update_document gives the new revision, and an old one conflicts with both numbers', async () => {
    const document_id = await made();
    const given = args('update_document');
    const update = { ...given, document_id, update_mask: Object.keys(given['patch'] as Fields) };
    const answer = await call('knowledge.update_document', { ...update, last_known_revision: 1 });
    expect(answer.body.data).toEqual({ id: document_id, revision: 2 });
    const stale = await call('knowledge.update_document', update);
    expect([stale.status, stale.body.error?.code]).toEqual([409, 'CONFLICT']);
    expect(stale.body.error?.details).toMatchObject({ expected_revision: 0, actual: 2 });
    expectForm(stale, filled('error.txt'));
  });

  test('[KNOW-15] delete_document marks it, with its reason and its day, wherever it is shown', async () => {
    const document_id = await made();
    const answer = await call('knowledge.delete_document', { ...args('delete_document'), document_id });
    expect(answer.body.data).toEqual({
      id: document_id,
      revision: 2,
      deleted: true,
      delete_at: some(String),
      purge_at: some(String),
    });
    const listed = good(await call('knowledge.list_documents', { deleted: true }));
    const shown = (listed['documents'] as Fields[]).find((one) => one['document_id'] === document_id);
    expect(shown).toMatchObject({ deleted: true, delete_reason: 'a reason' });
    const history = (await call('knowledge.get_document_history', { document_id })).body.data;
    expect(history).toMatchObject({
      deleted: true,
      revisions: [{ action: 'deleted' }, { action: 'created' }],
    });
  });

  test('[KNOW-16] move_document puts it before a sibling, or to its place', async () => {
    const [document_id, before] = [await made(), await made()];
    const given = { ...args('move_document'), document_id };
    const answer = await call('knowledge.move_document', {
      ...given,
      position: { ...(given as Fields & { position?: Fields }).position, before },
    });
    expect(answer.body.data).toEqual({
      id: document_id,
      revision: 2,
      parent_id: 'root',
      order: some(String),
    });
  });

  test('[KNOW-17] query_knowledge answers with its context, with nothing when nothing is looked up', async () => {
    await made();
    const given = { ...args('query_knowledge'), query: 'a body' };
    const { filters: _filters, ...rest } = given as Fields;
    const filters = { tags: ['a tags'], tenant_id: 'w1' };
    const answer = await call('knowledge.query_knowledge', { ...rest, filters });
    const data = answer.body.data as { response: string; context: Fields[]; usage: Fields };
    expect(data.response).toMatch(/\w.*\[1\]/);
    expect(data.context[0]).toMatchObject({ snippet: 'a body', metadata: { title: 'a title' } });
    expect(answer.body.usage).toEqual({ latency_ms: some(Number), qdrant_hits: data.context.length });
    const noop = await call('knowledge.query_knowledge', { query: 'a body', routing: { noop_qdrant: true } });
    expect(noop.body.data).toMatchObject({ response: '', context: [] });
    expect(noop.body.usage).toEqual({ latency_ms: some(Number), qdrant_hits: 0 });
    const empty = await call('knowledge.query_knowledge', { query: 'xyzzyplugh' });
    expect(empty.body.data).toMatchObject({ response: '', context: [] });
  });
});
