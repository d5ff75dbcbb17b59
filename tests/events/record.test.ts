import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { expect, test } from 'vitest';

import { parseLog } from '../harness/oracle.ts';
import { runCli } from '../harness/run-cli.ts';
import { freshFolder, HubRefused, startHub } from '../harness/start-hub.ts';
import { issueToken } from '../harness/tokens.ts';
import { faces, v1Driver } from '../harness/call.ts';
import { succeeded } from '../harness/use-hub.ts';
import { postEvent } from './events-driver.ts';

test('[BRIDGE-2] [C-BRIDGE-09] one byte of a stored event is edited: the doctor names the event', async () => {
  const hub = await startHub();
  const { token } = await issueToken({ agent: 'alice' }, { data: hub.data });
  const made = await v1Driver.call(hub.url, token, 'create_thread', { title: 't' });
  const { thread_id } = succeeded(made);
  for (const content of ['first', 'unmistakable', 'third'])
    expect((await postEvent(hub.url, token, thread_id, { type: 'message', content })).status).toBe(200);
  await hub.stop();
  expect((await runCli(['doctor'], { data: hub.data })).code).toBe(0);
  const path = join(hub.data, 'parley.db');
  const bytes = readFileSync(path);
  bytes[bytes.indexOf('unmistakable')]! ^= 1;
  writeFileSync(path, bytes);
  const { code, stdout } = await runCli(['doctor', '--json'], { data: hub.data });
  expect(code).toBe(1);
  expect((JSON.parse(stdout) as { problems: string[] }).problems.join('\n')).toContain(
    `${thread_id}: the chain breaks at seq 2`,
  );
});

const YAML = `# who may speak here
clients:
  codex: { command: codex }
  claude:
models:
  gpt:
    context: 1
  claude-opus-4-5: {}
owner: nobody in particular
`;

test.each([
  ['registry.json', JSON.stringify({ clients: ['codex'], models: { gpt: { context: 1 } } })],
  ['registry.yaml', YAML],
])(
  '[BRIDGE-4] clients and models that %s does not list are allowed and remarked upon once',
  async (name, text) => {
    const data = freshFolder();
    const registry = join(dirname(data), name);
    writeFileSync(registry, text);
    const hub = await startHub({ data, settings: { 'presence.registry': registry } });
    const { token } = await issueToken({ agent: 'user', role: 'operator' }, { data });
    const { thread_id } = succeeded(await v1Driver.call(hub.url, token, 'create_thread', { title: 't' }));
    const known = { client: 'codex', model: 'gpt' };
    const unknown = { client: 'cod\u001b[31mex', model: 'gpt' };
    for (const profile of [known, unknown, unknown])
      for (const face of faces) {
        const call = (operation: 'control_thread' | 'set_presence', input: object) =>
          face.call(hub.url, token, operation, { thread_id, ...input });
        succeeded(await call('control_thread', { control: { invite: { participant_id: 'a', profile } } }));
        succeeded(await call('set_presence', { state: 'listening', profile: { ...profile, model: 'own' } }));
      }
    await hub.stop();
    const remarks = parseLog(hub.stderr()).filter(({ msg }) => msg.includes('registry file'));
    expect(remarks.map(({ level, msg }) => [level, msg])).toEqual([
      ['warn', 'model own is not in the registry file'],
      ['warn', 'client cod\u001b[31mex is not in the registry file'],
    ]);
  },
);

test('[BRIDGE-4] a registry file that cannot be used stops the hub, which says why', async () => {
  const data = freshFolder();
  const registry = join(dirname(data), 'registry.json');
  for (const [text, why] of [
    ['{"clients": "codex"}', 'it must hold the lists clients and models'],
    ['neither JSON nor a map', 'cannot be used'],
    ['clients: [codex\nmodels: {', 'cannot be used'],
    ['clients: {codex: 1}\nclients: {codex: 2}\nmodels: []', 'cannot be used'],
  ] as const) {
    writeFileSync(registry, text);
    const refused = await startHub({ data, settings: { 'presence.registry': registry } }).catch(
      (error: unknown) => error,
    );
    expect(refused).toBeInstanceOf(HubRefused);
    expect(`${(refused as HubRefused).stdout}${(refused as HubRefused).stderr}`).toContain(why);
  }
});
