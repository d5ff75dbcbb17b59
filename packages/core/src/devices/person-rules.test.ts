import type { Role } from '@parley/protocol';
import { expect, test } from 'vitest';

import { hubCaller } from '../hub-caller.ts';
import type { DeviceRecord } from '../records.ts';
import { openMemoryStore } from '../store-memory.ts';
import type { PersonGrant } from './grant.ts';
import { accountOf } from './person-rules.ts';

const ISSUER = 'https://login.example';

const head = (workspace = 'w1', now = Date.parse('2030-01-01T00:00:10Z')) => ({
  caller: hubCaller(workspace),
  now,
  salt: 0,
});

function deviceOf(name: string, subject: string | undefined, id: string): DeviceRecord {
  const moment = '2030-01-01T00:00:00.000Z';
  const person: PersonGrant | undefined =
    subject === undefined
      ? undefined
      : { issuer: ISSUER, subject, name, workspace_id: 'w1', since: moment, until: moment, places: [] };
  return {
    device_id: id,
    name: id,
    agent_id: name,
    workspace_id: 'w1',
    role: 'operator' satisfies Role,
    read_only: false,
    created_at: moment,
    last_seen_at: moment,
    expires_at: '2031-01-01T00:00:00.000Z',
    secret_hash: 'x',
    grant: { ...(person === undefined ? {} : { person }), devices: [] },
  };
}

const bind = (agent_id: string, subject: string, named = false) => ({
  type: 'bind_person' as const,
  ...head(),
  input: { agent_id, issuer: ISSUER, subject, named },
});

test('a name is bound to one account, and only the configuration gives it to another', async () => {
  const store = openMemoryStore();
  await store.transact(bind('ada', 'u-1'));
  await store.transact(bind('ada', 'u-1'));
  await expect(store.transact(bind('ada', 'u-2'))).rejects.toMatchObject({ code: 'CONFLICT' });
  await store.transact({
    type: 'add_device',
    ...head(),
    input: { device: deviceOf('kim', undefined, 'd-1') },
  });
  await expect(store.transact(bind('kim', 'u-2'))).rejects.toMatchObject({ code: 'CONFLICT' });
  await store.transact(bind('kim', 'u-2', true));
  const people = await store.records({ kind: 'person', workspace_id: 'w1', limit: 10 });
  expect(people.map(({ agent_id, subject }) => [agent_id, subject])).toEqual([
    ['ada', 'u-1'],
    ['kim', 'u-2'],
  ]);
  // The same name in another workspace is another name.
  await store.transact({ ...bind('ada', 'u-2'), ...head('w2') });
});

test('to revoke one device of an account ends all of them and its names, and nobody else’s', async () => {
  const store = openMemoryStore();
  await store.transact(bind('ada', 'u-1'));
  await store.transact(bind('ada-agent', 'u-1'));
  await store.transact(bind('bo', 'u-2'));
  for (const device of [
    deviceOf('ada', 'u-1', 'a-1'),
    deviceOf('ada', 'u-1', 'a-2'),
    deviceOf('ada', undefined, 'a-3'),
    deviceOf('bo', 'u-2', 'b-1'),
  ])
    await store.transact({ type: 'add_device', ...head(), input: { device } });
  await store.transact({ type: 'revoke_device', ...head(), input: { device_id: 'a-1' } });
  const active = { kind: 'device', workspace_id: 'w1', marks: ['active'], limit: 10 } as const;
  expect((await store.records(active)).map(({ device_id }) => device_id)).toEqual(['a-3', 'b-1']);
  const people = await store.records({ kind: 'person', workspace_id: 'w1', limit: 10 });
  expect(people.map(({ agent_id, ended_at }) => [agent_id, ended_at])).toEqual([
    ['ada', '2030-01-01T00:00:10.000Z'],
    ['ada-agent', '2030-01-01T00:00:10.000Z'],
    ['bo', undefined],
  ]);
});

test('two issuers may use one subject, and no subject can be written so that it is another’s', () => {
  expect(accountOf({ issuer: 'a', subject: 'b' })).not.toBe(accountOf({ issuer: 'a2', subject: 'b' }));
  expect(accountOf({ issuer: 'a","b', subject: 'c' })).not.toBe(accountOf({ issuer: 'a', subject: 'b","c' }));
});
