import { expect, test } from 'vitest';

import { describeWith } from '../tools/describe-with.ts';
import { type Connected, connectRuntime, openHub, PATIENT } from './reached-scene.ts';

type Name = 'codex' | 'claude';

/** Who says what to whom, and what comes of it: whom it reaches, or what its sender is told. */
interface Row {
  row: string;
  by: Name | 'ann';
  among?: Name[];
  to?: Name;
  body: string;
  reaches?: Name;
  reported?: { agent: string; why: string }[];
}

const ROWS: Row[] = [
  { row: 'codex to claude', by: 'codex', to: 'claude', body: 'is it done?', reaches: 'claude' },
  { row: 'claude to codex', by: 'claude', to: 'codex', body: 'is it done?', reaches: 'codex' },
  { row: 'a person to @claude', by: 'ann', body: '@claude is it done?', reaches: 'claude' },
  { row: 'a person to @codex', by: 'ann', body: '@codex is it done?', reaches: 'codex' },
  { row: 'codex beside claude alone', by: 'codex', among: ['claude'], body: 'done?', reaches: 'claude' },
  { row: 'claude to @codex alone', by: 'claude', among: ['codex'], body: '@codex done?', reaches: 'codex' },
  {
    row: 'codex before claude and a person',
    by: 'codex',
    body: 'is it done?',
    reported: [
      { agent: 'ann', why: 'not_addressed' },
      { agent: 'claude', why: 'not_addressed' },
    ],
  },
  {
    row: 'claude to @codex before a person',
    by: 'claude',
    body: '@codex is it done?',
    reported: [{ agent: 'codex', why: 'discussion_off' }],
  },
];

interface Said extends Row {
  thread_id: string;
  message_id: string;
  at: number;
}

interface Answer {
  message_id: string;
  called: string[];
  not_called: { agent: string; why: string; hint: string }[];
}

const facts = ({ not_called }: Pick<Answer, 'not_called'>) =>
  not_called.map(({ agent, why }) => ({ agent, why })).toSorted((a, b) => (a.agent < b.agent ? -1 : 1));

describeWith(['codex', 'claude'], 'connected with parley init and nothing else', () => {
  test(
    '[HUB-M9] [HUB-W7] [BRIDGE-14] every call reaches an idle Codex and an idle Claude Code or its sender is told, whether it came before they were opened or over a hub that was killed, once and beside a draft',
    { timeout: 420_000 },
    async () => {
      const hub = await openHub();
      const programs: Record<Name, Connected> = {
        codex: await connectRuntime('codex', hub.folder),
        claude: await connectRuntime('claude', hub.folder),
      };
      const all: Said[] = [];
      const times: { row: string; ms: number }[] = [];

      /** Says it in a thread of its own; who speaks is told at once whom that calls. */
      async function say(row: Row): Promise<Said> {
        const { by, to, body, reaches, reported = [] } = row;
        const call = await hub.as(by, by === 'ann' ? 'operator' : 'worker');
        const participants = row.among ?? ['codex', 'claude', 'ann'].filter((one) => one !== by);
        const { thread_id } = await call<{ thread_id: string }>('create_thread', {
          title: row.row,
          participants,
        });
        const words = { thread_id, schema_version: 1, body, ...(to === undefined ? {} : { to }) };
        const answer = await call<Answer>('post_message', words);
        expect([answer.called, facts(answer)], row.row).toEqual([
          reaches === undefined ? [] : [reaches],
          reported,
        ]);
        expect(answer.not_called.every(({ hint }) => hint !== '')).toBe(true);
        const said = { ...row, thread_id, message_id: answer.message_id, at: performance.now() };
        all.push(said);
        return said;
      }

      async function reached({ row, reaches, thread_id, at }: Said, from = at): Promise<void> {
        if (reaches === undefined) return;
        const shown = () => programs[reaches].shownAt(thread_id);
        await expect.poll(shown, { ...PATIENT, message: row }).toBeDefined();
        times.push({ row, ms: Math.round((shown() ?? 0) - from) });
      }

      /** What the models were shown is on record, and why the others were not called. */
      async function recorded(): Promise<void> {
        const ann = await hub.as('ann', 'operator');
        for (const { thread_id, message_id, reaches, reported } of all) {
          if (reaches === undefined || reported !== undefined) continue;
          const results = async () => {
            const about = { thread_id, message_id };
            const { woken } = await ann<{ woken: { result: string; why?: string }[] }>(
              'get_message_evidence',
              about,
            );
            // Whoever had not come back yet after a kill is noted as out of reach, and reached when it comes.
            return woken.filter(({ why }) => why !== 'no_door').map(({ result }) => result);
          };
          await expect.poll(results, PATIENT).toEqual(['delivered']);
        }
        for (const { by, thread_id, message_id, reported } of all) {
          if (reported === undefined) continue;
          const sender = await hub.as(by);
          const evidence = await sender<Answer & { woken: unknown[] }>('get_message_evidence', {
            thread_id,
            message_id,
          });
          expect([facts(evidence), evidence.woken]).toEqual([reported, []]);
        }
      }

      /** The wakes of a thread that were asked for again at the door they may have gone through. */
      async function askedAgain(agent: Name, thread_id: string): Promise<number> {
        const ann = await hub.as('ann', 'operator');
        const { journal_thread_id } = await ann<{ journal_thread_id: string }>('get_agent', {
          of_agent: agent,
        });
        const { messages } = await ann<{ messages: { metadata?: Record<string, unknown> }[] }>(
          'read_messages',
          { thread_id: journal_thread_id, limit: 200 },
        );
        const here = messages.filter(({ metadata }) => metadata?.['thread_id'] === thread_id);
        return here.filter(({ metadata }) => metadata?.['again'] === true).length;
      }

      // Before either of them is opened, and the hub is killed in between.
      const early = [];
      for (const row of ROWS) early.push(await say({ ...row, row: `before it is opened: ${row.row}` }));
      await hub.restart();
      const drafts: (() => Promise<void>)[] = [];
      for (const name of ['codex', 'claude'] as const) {
        const openedAt = performance.now();
        const person = await programs[name].open();
        await person.sees(programs[name].prompt);
        times.push({ row: `${name} shows its prompt`, ms: Math.round(performance.now() - openedAt) });
        for (const said of early.filter(({ reaches }) => reaches === name)) await reached(said, openedAt);
        // Its model has called no tool so far, and never does here.
        person.type('half typed');
        drafts.push(() => person.sees(programs[name].draft));
        await drafts.at(-1)?.();
      }

      for (const when of ['idle', 'the hub was killed'] as const) {
        if (when === 'the hub was killed') {
          await recorded();
          await hub.restart();
        }
        for (const row of ROWS) await reached(await say({ ...row, row: `${when}: ${row.row}` }));
      }
      await recorded();

      // The hub is killed when the model has its wake and that is not on record yet.
      for (const name of ['codex', 'claude'] as const) {
        const body = `@${name} is it done?`;
        const said = await say({ row: 'killed midway', by: 'ann', body, reaches: name });
        const thaw = await hub.freezeAtDelivery(said.thread_id);
        await reached(said);
        hub.kill();
        thaw();
        await hub.restart();
        await recorded();
        expect(await askedAgain(name, said.thread_id)).toBe(1);
      }

      // Nobody has read a word, and nobody is told twice: neither by the restart nor by those who came back.
      await hub.restart();
      const list = await hub.as('ann', 'operator');
      const connected = async () => {
        const { agents } = await list<{ agents: { agent_id: string; connected: string[] }[] }>(
          'list_agents',
          {},
        );
        return agents.filter((one) => one.connected.length > 0).map(({ agent_id }) => agent_id);
      };
      await expect.poll(connected, PATIENT).toEqual(['claude', 'codex']);
      const last = { row: 'afterwards', by: 'ann', body: '@codex and now?', reaches: 'codex' } as const;
      await reached(await say(last));
      const shown = ({ thread_id }: Said) => [
        programs.codex.wakes(thread_id),
        programs.claude.wakes(thread_id),
      ];
      expect(all.map((said) => [said.row, ...shown(said)])).toEqual(
        all.map(({ row, reaches }) => [row, Number(reaches === 'codex'), Number(reaches === 'claude')]),
      );
      for (const stands of drafts) await stands();
      console.log(times.map(({ row, ms }) => `${ms} ms  ${row}`).join('\n'));
    },
  );
});
