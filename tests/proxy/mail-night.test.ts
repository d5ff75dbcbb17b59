import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { scriptedModelConfig, startOpenaiResponses } from '@parley/runtimes';
import { expect, onTestFinished, test } from 'vitest';

import { seeded } from '../faults/faults-at-random.ts';
import { startClaudeTeam } from '../mail/claude-team.ts';
import { allDone, startMailProcess } from '../mail/mail-process.ts';
import { sizeOf } from '../prove/long-forms.ts';
import { measured } from '../prove/measured.ts';
import { lastPrompt } from '../runtimes/scripted-agent.ts';
import { describeWith } from '../tools/describe-with.ts';
import { requireTool } from '../tools/tools.ts';
import { type Audited, createNightModel, mailingLead, marksIn, turnsSinceRearmed } from './mail-night.ts';
import { timesGiven } from './mail-seen.ts';
import { type ProxyClient, startProxy, until } from './proxy-client.ts';
import { openTeam } from './team.ts';

/** `NIGHT_SEED` is another schedule. */
const { mails: MAILS } = sizeOf('night of mail');
const SEED = Number(process.env['NIGHT_SEED'] ?? 1);
const KILLS = Number(process.env['NIGHT_KILLS'] ?? Math.max(2, Math.round(MAILS / 50)));

const WORKERS = Array.from({ length: 8 }, (_, n) => `worker${n}`);
const LOOP = ['ping', 'pong'];
const SESSIONS = [...WORKERS, ...LOOP];
const PAIR = 5;
const TARGET = 40;
const LIMITS = ['--set', `mail_turns_per_pair=${PAIR}`, `mail_turns_per_target=${TARGET}`];

interface Status {
  child: { pid: number | null };
  mail: { turns: number };
  mail_held: { identity: string; agent_id: string; messages: number }[];
}

describeWith(['claude', 'codex'], 'a night of mail', ({ claude }) => {
  test(
    `[FR-8.6] [FR-8.12] [FR-8.13] [FR-9.1] [FR-9.2] ${MAILS} mails to ten sessions, two of them in a loop, with ${KILLS} kills of the proxy or of Codex while Claude Code writes: none is lost, none is given twice, the loop ends, the audit has it all`,
    { timeout: 300_000 + MAILS * 3_000 },
    async () => {
      const random = seeded(SEED);
      const startedAt = performance.now();
      const lead = mailingLead(Math.ceil(MAILS / 10), WORKERS);
      const writer = await startClaudeTeam(claude, lead.script);
      const { home, team: name } = writer;
      const team = openTeam(home, name);
      const answer = createNightModel(LOOP);
      /** Called when a model is given mail, which is then not marked yet. */
      let onMail = (): void => {};
      const seen = new Set<string>();
      const model = await startOpenaiResponses((request) => {
        for (const mark of marksIn([request])) seen.add(mark);
        if (lastPrompt(request).includes('unread message')) onMail();
        return answer(request);
      });
      onTestFinished(() => model.close());
      const codexHome = join(home, '.codex');
      mkdirSync(codexHome);
      writeFileSync(join(codexHome, 'config.toml'), scriptedModelConfig(model.url));
      const place = { root: home, home, work: home, log: '', remove: async () => {} };

      const proxies: ProxyClient[] = [];
      const open = async (): Promise<ProxyClient> => {
        const started = await startProxy({
          place,
          args: ['--team', name, ...LIMITS],
          env: { CODEX_BIN: requireTool('codex'), CODEX_HOME: codexHome },
        });
        proxies.push(started);
        return started;
      };
      onTestFinished(async () => void (await Promise.all(proxies.map((one) => one.kill('SIGKILL')))));
      const statusOf = async (of: ProxyClient): Promise<Status> =>
        (await of.call('agent_status')).structuredContent as unknown as Status;

      let proxy = await open();
      const agents = new Map<string, string>();
      for (const identity of SESSIONS) {
        const { structuredContent } = await proxy.call('codex', { prompt: 'hello', identity });
        agents.set(identity, structuredContent.agent_id);
      }

      // Those who write, each in a process of its own: Claude Code itself, some that do as it does, and ours.
      const perWriter = Math.floor((MAILS - lead.count) / (2 * WORKERS.length));
      const ours = MAILS - lead.count - perWriter * WORKERS.length;
      const writers = WORKERS.flatMap((worker, n) => {
        const more = Math.floor(ours / WORKERS.length) + (n < ours % WORKERS.length ? 1 : 0);
        return [
          startMailProcess('simulated-claude.ts', ['write', team.path(worker), `night-c${n}`, perWriter]),
          startMailProcess('send-many.ts', [home, name, worker, `night-o${n}`, 0, more]),
        ];
      });
      await proxy.call('codex-reply', { agent_id: agents.get('ping'), prompt: 'begin' });
      await writer.say('MAIL-NOW');

      const unreadAtKill: Set<string>[] = [];
      const count = { proxy: 0, codex: 0, rearmed: 0 };
      /** Ends the proxy of the day, at any time or in the midst of a delivery, and takes every session up again. */
      const kill = async (): Promise<void> => {
        const isProxy = random() < 0.5;
        count[isProxy ? 'proxy' : 'codex'] += 1;
        const pid = isProxy ? proxy.pid : (await statusOf(proxy)).child.pid;
        const given = new Promise<void>((resolve) => {
          onMail = () => {
            onMail = () => {};
            if (pid !== null) process.kill(pid, 'SIGKILL');
            resolve();
          };
        });
        await Promise.race([given, sleep(random() < 0.5 ? random() * 300 : 5_000)]);
        onMail();
        await (isProxy ? proxy.kill('SIGKILL') : proxy.end());
        unreadAtKill.push(new Set(SESSIONS.flatMap((agent) => team.unreadIds(agent))));
        proxy = await open();
        for (const [, agent_id] of agents) await proxy.call('codex', { agent_id, prompt: 'go on' });
      };
      /** What a client does that is told of held mail; it leaves the loop alone. */
      const rearm = async (): Promise<void> => {
        for (const { identity, agent_id, messages } of (await statusOf(proxy)).mail_held) {
          if (messages === 0 || LOOP.includes(identity)) continue;
          count.rearmed += 1;
          await proxy.call('codex-reply', { agent_id, prompt: 'go on' });
        }
      };
      const delivered = (): number => seen.size;
      for (let n = 0; n < KILLS; n++) {
        const enough = Math.round(((n + random()) * 0.9 * MAILS) / KILLS);
        await until(async () => {
          await rearm();
          return delivered() >= enough;
        });
        await kill();
      }
      await until(async () => {
        await rearm();
        return (
          lead.open.size === 0 &&
          WORKERS.every((agent) => team.unread(agent).length === 0) &&
          delivered() >= MAILS
        );
      });
      await allDone(...writers);

      // The loop: a ball that a kill has swallowed is thrown in once more.
      await proxy.call('codex-reply', { agent_id: agents.get('ping'), prompt: 'begin' });
      // It rests when all that is unread is held, and stays so: a turn under way may yet send.
      let restsSince = Infinity;
      await until(async () => {
        const held = (await statusOf(proxy)).mail_held.filter(({ identity }) => LOOP.includes(identity));
        const unread = LOOP.flatMap((agent) => team.unread(agent)).length;
        const rests = unread > 0 && held.reduce((sum, { messages }) => sum + messages, 0) === unread;
        restsSince = rests ? Math.min(restsSince, performance.now()) : Infinity;
        return performance.now() - restsSince > 2_000;
      });
      const thrown = LOOP.flatMap((agent) => team.inbox(agent)).length;
      await proxy.end();

      // None lost: each was sent for certain, and the model has seen each.
      expect(lead.sent.size).toBe(lead.count);
      expect(seen.size).toBe(MAILS);
      for (const agent of WORKERS) expect(team.unread(agent)).toEqual([]);

      // None twice; what a kill took from Codex before it had it was tried again.
      const twice = [...timesGiven(model.requests)].filter(([, times]) => times > 1);
      expect(twice).toEqual([]);
      const audit = readFileSync(join(home, '.config/atm/agent-sessions', name, 'audit.jsonl'), 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Audited);
      const brought = new Map<string, number>();
      for (const { event, source, message_ids = [] } of audit)
        if (event === 'turn' && source === 'mail')
          for (const id of message_ids) brought.set(id, (brought.get(id) ?? 0) + 1);
      const again = [...brought].filter(([, times]) => times > 1);
      for (const [id, times] of again)
        expect(times - 1, id).toBeLessThanOrEqual(unreadAtKill.filter((unread) => unread.has(id)).length);

      // The audit has each turn with its end, but for those that a kill has cut, and each mail that a session sent.
      const ended = new Set(
        audit.flatMap(({ event, correlation_id }) => (event === 'turn_end' ? [correlation_id] : [])),
      );
      const cut = audit.filter(({ event, correlation_id }) => event === 'turn' && !ended.has(correlation_id));
      expect(cut.length).toBeLessThanOrEqual(count.proxy * SESSIONS.length);
      for (const id of SESSIONS.flatMap((agent) => team.readIds(agent)))
        expect(brought.has(id), id).toBe(true);
      const sends = audit.filter(({ tool, status }) => tool === 'atm_send' && status === undefined);
      expect(sends.length).toBeGreaterThanOrEqual(thrown);
      const held = new Set(
        audit.flatMap(({ event, message_ids = [] }) => (event === 'mail_held' ? message_ids : [])),
      );
      for (const id of LOOP.flatMap((agent) => team.unreadIds(agent))) expect(held.has(id), id).toBe(true);

      // The loop ends within its budget each time that it is armed.
      expect(turnsSinceRearmed(audit, LOOP)).toBeLessThanOrEqual(PAIR);

      measured(
        'night of mail',
        'given twice, tried again, kills',
        `${twice.length}, ${again.length}, ${count.proxy + count.codex}`,
      );
      process.stdout.write(
        `night, seed ${SEED}: ${JSON.stringify({
          mails: MAILS,
          ...count,
          turns: audit.filter(({ event, source }) => event === 'turn' && source === 'mail').length,
          tried_again: again.length,
          given_twice: twice.length,
          loop: thrown,
          seconds: Math.round((performance.now() - startedAt) / 1_000),
        })}\n`,
      );
    },
  );
});
