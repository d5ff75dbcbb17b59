import { randomUUID } from 'node:crypto';

import type { InputOf } from '@parley/protocol';
import { describe, expect, test } from 'vitest';

import { faces } from '../harness/call.ts';
import { type Participant, useHub } from '../harness/use-hub.ts';
import { WITHOUT_MODEL } from '../harness/without-model.ts';

const scene = useHub({
  settings: { ...WITHOUT_MODEL, 'quota.messages_burst': 100_000, 'mcp.profile': 'full' },
});

/** A document's input; the id is told apart from it. */
function page(title: string, body = `# ${title}`, parent_id = 'root'): InputOf<'create_document'> {
  return {
    document_id: randomUUID(),
    parent_id,
    content: { mime_type: 'text/markdown', body },
    metadata: { title },
  };
}

async function titles(who: Participant, parent_id: string, more: object = {}): Promise<string[]> {
  const { documents } = await who.ok('list_documents', { parent_id, ...more });
  return documents.map(({ metadata }) => metadata.title);
}

describe.each(faces)('over $name', (face) => {
  const as = (name: string, role: string) => scene.as(name, { role, face, workspace: `t-${role.length}` });
  const editor = () => scene.as('ed', { role: 'orchestrator', face });

  test('[KNOW-13] [KNOW-14] [KNOW-15] [KNOW-16] a document is made, changed, moved, deleted, restored and read', async () => {
    const ed = editor();
    const top = page('top');
    expect(await ed.ok('create_document', top)).toMatchObject({ id: top.document_id, revision: 1 });
    const [a, b, c] = ['a', 'b', 'c'].map((title) => page(title, `text of ${title}`, top.document_id));
    if (a === undefined || b === undefined || c === undefined) throw new Error('three were made');
    for (const one of [a, b, c]) await ed.ok('create_document', one);
    expect(await titles(ed, top.document_id)).toEqual(['a', 'b', 'c']);
    const { document_id } = a;

    const patch = { content: { body: 'new text' }, metadata: { tags: ['x'] } };
    const changed = await ed.ok('update_document', {
      document_id,
      patch,
      update_mask: ['content.body', 'metadata.tags'],
      last_known_revision: 1,
    });
    expect(changed).toEqual({ id: document_id, revision: 2 });
    const { document, thread_id } = await ed.ok('get_document', { document_id });
    expect(document).toMatchObject({
      revision: 2,
      content: { mime_type: 'text/markdown', body: 'new text' },
      metadata: { title: 'a', tags: ['x'] },
      is_human_readable: true,
      created_by: 'ed',
      updated_by: 'ed',
    });
    const old = await ed.ok('get_document', { document_id, revision: 1 });
    expect(old.document).toMatchObject({ revision: 1, content: { body: 'text of a' } });

    const error = await ed.refused(
      'update_document',
      { document_id, patch, update_mask: ['content.body'], last_known_revision: 1 },
      'CONFLICT',
    );
    expect(error.details).toMatchObject({ expected_revision: 1, actual: 2 });

    await ed.ok('move_document', {
      document_id: c.document_id,
      new_parent_id: top.document_id,
      position: { before: document_id },
    });
    expect(await titles(ed, top.document_id)).toEqual(['c', 'a', 'b']);
    await ed.refused(
      'move_document',
      { document_id: top.document_id, new_parent_id: document_id },
      'CONFLICT',
    );
    await ed.ok('move_document', { document_id: b.document_id, new_parent_id: document_id });

    await ed.ok('delete_document', { document_id, reason: 'stale' });
    await ed.refused('get_document', { document_id: b.document_id }, 'NOT_FOUND');
    expect(await titles(ed, top.document_id)).toEqual(['c']);
    expect(await titles(ed, top.document_id, { deleted: true })).toEqual(['a']);
    await ed.ok('restore_document', { document_id });
    expect(await titles(ed, document_id)).toEqual(['b']);

    await ed.ok('revert_document', { document_id, revision: 1 });
    const { revisions } = await ed.ok('get_document_history', { document_id });
    expect(revisions.map(({ revision, action, by }) => `${revision} ${action} ${by}`)).toEqual([
      '5 reverted ed',
      '4 restored ed',
      '3 deleted ed',
      '2 updated ed',
      '1 created ed',
    ]);
    const first = await ed.ok('get_document_history', { document_id, limit: 2 });
    const rest = await ed.ok('get_document_history', {
      document_id,
      limit: 9,
      after: first.next_after ?? '',
    });
    expect([...first.revisions, ...rest.revisions]).toEqual(revisions);
    const log = await scene.as('reader', { face }).ok('read_messages', { thread_id, limit: 200 });
    expect(log.messages.filter(({ metadata }) => reported(metadata) === document_id)).toHaveLength(5);
  });

  test('[KNOW-13] links lead by title, by file and by id, and hold through renames and moves', async () => {
    const ed = editor();
    const mark = randomUUID();
    const target = {
      ...page(`Target ${mark}`),
      metadata: { title: `Target ${mark}`, source: `notes/file-${mark}.md` },
    };
    await ed.ok('create_document', target);
    const { document_id } = target;
    const byTitle = page('by title', `see [[target  ${mark}|the target]] and [[nobody ${mark}]]`);
    const byFile = page(
      'by file',
      `see [it](../notes/file-${mark}.md#part), [out](https://example.org/x.md)`,
    );
    const byId = page('by id', `see [it](${document_id})`);
    for (const one of [byTitle, byFile, byId]) await ed.ok('create_document', one);
    const backlinks = async () =>
      (await ed.ok('get_document_links', { document_id })).backlinks.map(({ title }) => title).toSorted();
    expect(await backlinks()).toEqual(['by file', 'by id', 'by title']);
    await ed.ok('update_document', {
      document_id,
      patch: { metadata: { title: `Renamed ${mark}` } },
      update_mask: ['metadata.title'],
    });
    await ed.ok('move_document', { document_id, new_parent_id: byId.document_id });
    expect(await backlinks()).toEqual(['by file', 'by id', 'by title']);
    const { links } = await ed.ok('get_document_links', { document_id: byTitle.document_id });
    expect(links).toEqual([
      { name: `target ${mark}`, document_id, title: `Renamed ${mark}` },
      { name: `nobody ${mark}`, document_id: null, title: null },
    ]);
    const late = page(`Nobody ${mark}`);
    await ed.ok('create_document', late);
    const now = await ed.ok('get_document_links', { document_id: byTitle.document_id });
    expect(now.links[1]).toMatchObject({ document_id: late.document_id });
    await ed.ok('update_document', {
      document_id: byTitle.document_id,
      patch: { content: { body: 'nothing' } },
      update_mask: ['content.body'],
    });
    expect(await backlinks()).toEqual(['by file', 'by id']);
  });

  test('[KNOW-9] [C-AUTH-21] operators and orchestrators do all, workers read and create, observers read', async () => {
    const owner = as('boss', 'operator');
    const workspace = 't-8';
    const who = (role: string) => scene.as(role, { role, face, workspace });
    const kept = page('kept');
    await owner.ok('create_document', kept);
    const { document_id } = kept;
    const changes = [
      [
        'update_document',
        { document_id, patch: { metadata: { source: 's' } }, update_mask: ['metadata.source'] },
      ],
      ['move_document', { document_id, new_parent_id: 'root' }],
      ['delete_document', { document_id }],
      ['restore_document', { document_id }],
      ['revert_document', { document_id, revision: 1 }],
    ] as const;
    for (const role of ['worker', 'observer'])
      for (const [operation, input] of changes) await who(role).refused(operation, input, 'FORBIDDEN');
    await who('observer').refused('create_document', page('no'), 'FORBIDDEN');
    for (const role of ['worker', 'observer', 'orchestrator'])
      expect((await who(role).ok('get_document', { document_id })).document.revision).toBe(1);
    await who('worker').refused('create_document', page('at the top'), 'FORBIDDEN');
    await who('worker').ok('create_document', page('by a worker', 'text', document_id));
    for (const role of ['orchestrator', 'operator'])
      for (const [operation, input] of changes) await who(role).ok(operation, input);
    const foreign = scene.as('far', { role: 'operator', face, workspace: 'elsewhere' });
    await foreign.refused('get_document', { document_id }, 'NOT_FOUND');
    expect(await titles(foreign, 'root')).toEqual([]);
  });

  test('[KNOW-13] [C-ENV-11] what is not there, twice there or gone is refused in plain words', async () => {
    const ed = editor();
    const made = page('made');
    await ed.ok('create_document', made);
    await ed.refused('create_document', made, 'CONFLICT');
    await ed.refused('create_document', { ...page('x'), parent_id: 'nowhere' }, 'NOT_FOUND');
    await ed.refused('create_document', { ...page('x'), document_id: 'no-uuid' }, 'VALIDATION_ERROR');
    const { document_id } = made;
    for (const position of [{ before: document_id }, { before: randomUUID() }, { ordering: -1 }])
      await ed.refused('move_document', { document_id, new_parent_id: 'root', position }, 'VALIDATION_ERROR');
    for (const update_mask of [[], ['__proto__'], ['metadata.__proto__.x'], ['content.body.0']])
      await ed.refused('update_document', { document_id, patch: {}, update_mask }, 'VALIDATION_ERROR');
    const keyed = { ...page('keyed'), idempotency_key: randomUUID() };
    const first = await ed.ok('create_document', keyed);
    expect(await ed.ok('create_document', keyed)).toEqual(first);
    await ed.refused('create_document', { ...keyed, metadata: { title: 'other' } }, 'IDEMPOTENCY_CONFLICT');
  });
});

function reported(metadata: Record<string, unknown> | undefined): unknown {
  return (metadata?.['document'] as { document_id?: string } | undefined)?.document_id;
}
