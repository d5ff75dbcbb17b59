import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { createClient } from '@parley/client';
import type { AskAnswer } from '@parley/protocol';
import { describe, expect, test } from 'vitest';

import { CHAIN_START, link } from '../../packages/core/src/entry.ts';
import { checkPasskeys } from '../../packages/hub/src/cli/run/doctor/examine-passkeys.ts';
import { tamper } from '../../packages/store-sqlite/src/sample-damage.ts';
import { faces } from '../harness/call.ts';
import { runCli, runJson } from '../harness/run-cli.ts';
import { softPasskey, type SoftPasskey } from '../harness/soft-passkey.ts';
import { freshFolder, startHub } from '../harness/start-hub.ts';
import { recordOf } from '../harness/stored-record.ts';
import { issueToken } from '../harness/tokens.ts';
import { type Participant, useHub } from '../harness/use-hub.ts';

const scene = useHub({ settings: { 'asks.passkey': 'high_risk' } });
const origin = () => scene.hub.url.replace('127.0.0.1', 'localhost');
const YES = { decision: 'approved', scope: 'once' } as const;
const COMMAND = 'rm -rf build';

/** Adds a passkey for a person, with a code from the data folder. */
async function enrol(person: Participant, workspace: string, device = softPasskey()): Promise<SoftPasskey> {
  const { code } = await runJson<{ code: string }>(
    ['passkey', 'code', '--person', person.agent_id, '--workspace', workspace],
    { data: scene.hub.data },
  );
  const { challenge } = await person.ok('begin_passkey', { origin: origin() });
  const credential = device.create({ challenge, origin: origin() });
  await person.ok('add_passkey', { code, name: 'tablet', credential });
  return device;
}

/** Signs an answer to an ask and gives it. */
async function approve(person: Participant, device: SoftPasskey, ask_id: string, answer: AskAnswer = YES) {
  const { challenge } = await person.ok('challenge_ask', { ask_id, origin: origin(), ...answer });
  const passkey = device.get({ challenge, origin: origin() });
  return (await person.ok('answer_ask', { ask_id, ...answer, passkey })).ask;
}

const raise = async (agent: Participant, command = COMMAND) =>
  (await agent.ok('raise_ask', { kind: 'approval', prompt: 'May I?', command, cwd: '/src' })).ask;

interface Report {
  checks: { name: string; ok: boolean; detail: string }[];
}

/** What the doctor says of all that was signed. */
async function signaturesIn(data: string) {
  const { stdout } = await runCli(['doctor', '--json'], { data });
  return (JSON.parse(stdout) as Report).checks.find(({ name }) => name === 'passkeys');
}

describe.each(faces)('what only a passkey approves, over $name', (face) => {
  const workspace = `passkeys-${face.name.replaceAll(/\W/g, '-')}`;
  const agent = () => scene.as('builder', { workspace, face });
  const kim = () => scene.as('kim', { workspace, face, role: 'operator' });

  test('no answer without a signature approves, and one that is signed does', async () => {
    const { ask_id } = await raise(agent());
    const { message } = await kim().refused('answer_ask', { ask_id, ...YES }, 'FORBIDDEN');
    expect(message).toContain(`only a passkey approves it here: open ${origin()}/asks/${ask_id}`);
    const device = await enrol(kim(), workspace);
    const stranger = softPasskey();
    const { challenge } = await kim().ok('challenge_ask', { ask_id, origin: origin(), ...YES });
    const forged = stranger.get({ challenge, origin: origin() });
    await kim().refused('answer_ask', { ask_id, ...YES, passkey: forged }, 'FORBIDDEN');
    const done = await approve(kim(), device, ask_id);
    expect(done.verdict).toMatchObject({ decision: 'approved', by: 'kim' });
    expect(done.verdict?.passkey).toMatch(/^passkey-[0-9a-f]{16}$/);
  });
});

test('the command line approves nothing without it and says where to; it lists and removes passkeys', async () => {
  const workspace = 'passkey-cli';
  const at = { data: scene.hub.data };
  const as = ['--workspace', workspace];
  const kim = scene.as('kim', { workspace, role: 'operator' });
  const { ask_id } = await raise(scene.as('builder', { workspace }));
  const refused = await runCli(['ask', 'approve', ask_id, ...as], at);
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain(`open ${origin()}/asks/${ask_id} and sign it; a denial needs no passkey`);
  expect((await runCli(['passkey', 'ls', ...as], at)).stderr).toContain('There is none. Add one with');
  await enrol(kim, workspace);
  type Listed = { passkeys: { passkey_id: string; person: string; site: string }[]; demanded: string };
  const { passkeys, demanded } = await runJson<Listed>(['passkey', 'ls', ...as], at);
  expect(passkeys).toMatchObject([{ person: 'kim', site: 'localhost' }]);
  expect(demanded).toBe('high_risk');
  const [{ passkey_id } = { passkey_id: '' }] = passkeys;
  expect((await runCli(['passkey', 'rm', passkey_id, ...as], at)).stdout).toContain(`removed ${passkey_id}`);
  expect((await runJson<Listed>(['passkey', 'ls', ...as], at)).passkeys).toEqual([]);
  expect((await runCli(['ask', 'deny', ask_id, ...as], at)).code).toBe(0);
  // Whoever lost one gets another by the same way, and each step is on record.
  await enrol(kim, workspace);
  const { entries } = await kim.ok('read_log', { limit: 50 });
  const steps = entries
    .map(({ event }) => JSON.stringify(event))
    .filter((text) => text.includes('agent.passkey'));
  expect(steps).toHaveLength(5);
  // An operator's token is not the data folder: it gets no code.
  const reply = await fetch(`${scene.hub.url}/local/passkey-code`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${kim.token}` },
    body: JSON.stringify({ person: 'kim', workspace_id: workspace }),
  });
  expect(reply.status).toBe(401);
});

test('the doctor holds every signature against its ask again, also in a copy that was exported and restored', async () => {
  const workspace = 'passkey-doctor';
  const kim = scene.as('kim', { workspace, role: 'operator' });
  const agent = scene.as('builder', { workspace });
  const device = await enrol(kim, workspace);
  for (const command of ['rm -rf build', 'git push --force'])
    await approve(kim, device, (await raise(agent, command)).ask_id);
  const good = await signaturesIn(scene.hub.data);
  expect(good).toMatchObject({ ok: true, detail: expect.stringMatching(/^\d+ approvals signed, every/) });

  const file = join(freshFolder(), '..', 'record.jsonl');
  expect((await runCli(['export', '--out', file], { data: scene.hub.data })).code).toBe(0);
  const copy = freshFolder();
  expect((await runCli(['import', file], { data: copy })).code).toBe(0);
  expect(await signaturesIn(copy)).toEqual(good);
  // The public half came along: at the same name the same passkey signs for the restored hub.
  const hub = await startHub({ data: copy, settings: { 'asks.passkey': 'high_risk' } });
  const listed = await runJson<{ passkeys: object[] }>(['passkey', 'ls', '--workspace', workspace], {
    data: copy,
  });
  expect(listed.passkeys).toHaveLength(1);
  await hub.stop();
  rmSync(file);
});

/** Rewrites one entry of the log and every hash after it, as somebody would who owns the folder. */
function rewrite(data: string, change: (json: string) => string): void {
  tamper(data, (db) => {
    db.exec('DROP TRIGGER entries_never_change');
    const rows = db.prepare('SELECT pos, thread, json FROM entries ORDER BY pos').all() as {
      pos: number;
      thread: number;
      json: string;
    }[];
    const heads = new Map<number, string>();
    for (const { pos, thread, json } of rows) {
      const next = change(json);
      const hash = link(heads.get(thread) ?? CHAIN_START, next);
      heads.set(thread, hash);
      db.prepare('UPDATE entries SET json = ?, hash = ? WHERE pos = ?').run(next, hash, pos);
    }
  });
}

const another = (letter: string): string => (letter === 'A' ? 'B' : 'A');

const TAMPERED: [string, (json: string) => string, RegExp][] = [
  ['the command', (json) => json.replaceAll('rm -rf build', 'rm -rf home!'), /challenge/],
  ['the folder', (json) => json.replaceAll('"cwd":"/src"', '"cwd":"/etc"'), /challenge/],
  ['the verdict', (json) => json.replaceAll('"scope":"once"', '"scope":"rule"'), /challenge/],
  ['who signed', (json) => json.replaceAll('"by":"kim"', '"by":"bob"'), /somebody else/],
  ['the signature', (json) => json.replace(/(?<="signature":".{10})./, another), /signature was refused/],
  ['the public key', (json) => json.replace(/(?<="public_key":".{30})./g, another), /refused|kept/],
  ['that it was signed', (json) => json.replace(/,"proof":\{[^}]*\}/, ''), /without the signature/],
  ['the moment', (json) => json.replace(/"at":"\d{4}/, '"at":"2999'), /too late/],
];

test('the doctor names an approval of which somebody changed a part, though every hash was made to fit', async () => {
  const data = freshFolder();
  const hub = await startHub({ data, settings: { 'asks.passkey': 'high_risk' } });
  const page = hub.url.replace('127.0.0.1', 'localhost');
  const token = (await issueToken({ agent: 'kim', role: 'operator' }, { data })).token;
  const kim = createClient({ url: hub.url, token });
  const device = softPasskey();
  const { code } = await runJson<{ code: string }>(
    ['passkey', 'code', '--person', 'kim', '--workspace', 'w1'],
    { data },
  );
  const begun = await kim.begin_passkey({ origin: page });
  const credential = device.create({ challenge: begun.challenge, origin: page });
  await kim.add_passkey({ code, name: 'tablet', credential });
  const asked = { kind: 'approval', prompt: 'May I?', command: COMMAND, cwd: '/src' } as const;
  const { ask_id } = (await kim.raise_ask(asked)).ask;
  const { challenge } = await kim.challenge_ask({ ask_id, origin: page, ...YES });
  await kim.answer_ask({ ask_id, ...YES, passkey: device.get({ challenge, origin: page }) });
  await hub.stop();
  expect(await signaturesIn(data)).toMatchObject({
    ok: true,
    detail: expect.stringMatching(/^1 approval /),
  });
  const found: Record<string, string> = {};
  for (const [what, change] of TAMPERED) {
    const copy = freshFolder();
    cpSync(data, copy, { recursive: true });
    rewrite(copy, change);
    const { ok, detail } = await checkPasskeys(await recordOf(copy));
    found[what] = ok ? 'nothing' : detail;
  }
  for (const [what, , why] of TAMPERED) {
    expect([what, found[what]]).toEqual([what, expect.stringMatching(why)]);
    expect(found[what]).toMatch(what === 'the public key' ? /passkey-/ : new RegExp(ask_id));
  }
  rewrite(data, (json) => json.replaceAll(COMMAND, 'rm -rf home!'));
  const { code: exit, stdout } = await runCli(['doctor'], { data });
  expect(exit).not.toBe(0);
  expect(stdout).toContain(ask_id);
});
