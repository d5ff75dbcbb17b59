import { type Client, createClient } from '@parley/client';
import type { Command } from 'commander';

import type { Config } from '../../../config/schema.ts';
import { type AgentName, AGENTS } from './demo-script.ts';
import { openDemoHub } from './demo-hub.ts';
import { type Played, play } from './demo-play.ts';
import { oneLine } from '../../harmless.ts';
import { messageLines } from '../../message-lines.ts';
import { print, printLines } from '../../output.ts';
import { personName } from '../../connect.ts';
import { ownCommand } from '../../own-command.ts';
import { settingsOf } from '../../settings.ts';
import { shownId } from '../../short-ids.ts';
import { type Paint, painter } from '../../style.ts';

/** The workspace of a hub that is there for the demo alone. */
const PASSING = 'demo';
/** How long the question that it leaves waits for the person. */
const QUESTION_MS = 1_800_000;
const PAUSE_MS = 900;
const TTL_MS = 600_000;

/** `parley demo`: two agents and a coordinator play a code review over the real hub. */
export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('watch two scripted agents work through a review, on your hub or a passing one')
    .option('--fast', 'without pauses')
    .option('--workspace <id>', 'play in this workspace instead of your own')
    .addHelpText(
      'after',
      '\nOn a hub that runs it plays before your eyes: the dashboard shows it, and at its end a question waits for you.\n\nExamples:\n  parley demo --fast\n  parley demo --workspace demo',
    )
    .action(async (options: { fast?: boolean; workspace?: string }, command: Command) => {
      const settings = settingsOf(command, { workspace: options.workspace });
      const { json } = settings;
      const paint = painter(command);
      const hub = await openDemoHub(settings.config);
      try {
        const workspace = hub.passing ? PASSING : settings.config.workspace;
        const clients = await enrol(hub.config, hub.url, workspace);
        const typed = hub.passing ? undefined : ownCommand(settings);
        if (!json) printLines([...heading(hub.url, workspace, typed), '']);
        const played = await play(clients, {
          watchers: hub.passing ? [] : [personName()],
          pauseMs: process.stdout.isTTY && !json && options.fast !== true ? PAUSE_MS : 0,
          onMessage: (message) => (json ? undefined : printLines(messageLines(message, paint))),
          onHalfWay: (open) =>
            json ? undefined : printLines([paint('dim', `      ── half way: ${open} items open ──`)]),
        });
        if (!hub.passing) await leaveQuestion(clients.reviewer_agent, played.thread_id);
        const flag = options.workspace === undefined ? '' : ` --workspace ${workspace}`;
        print({ json }, { workspace, url: hub.url, ...played }, () => closing(played, typed, flag, paint));
      } finally {
        await hub.close();
      }
    });
}

/** What a person can answer on the dashboard, so that there is something to try it with. */
async function leaveQuestion(client: Client, thread_id: string): Promise<void> {
  await client.raise_ask({
    thread_id,
    kind: 'question',
    prompt:
      'The demo is over: both findings are fixed and verified. Shall the next review wait for you, too?',
    options: [
      { id: 'yes', label: 'Yes, ask me' },
      { id: 'no', label: 'No, go on without me' },
    ],
    expires_in_ms: QUESTION_MS,
  });
}

async function enrol(config: Config, url: string, workspace_id: string): Promise<Record<AgentName, Client>> {
  const { issueToken } = await import('../../../auth/issue-token.ts');
  const entries = Object.entries(AGENTS).map(async ([agent_id, role]) => {
    const request = {
      agent_id,
      workspace_id,
      role,
      session_id: `demo-${agent_id}`,
      ttl_ms: TTL_MS,
    };
    const { token } = await issueToken(config, request, Date.now());
    return [agent_id, createClient({ url, token })];
  });
  // Each name got its client above.
  return Object.fromEntries(await Promise.all(entries)) as Record<AgentName, Client>;
}

function heading(url: string, workspace: string, typed: string | undefined): string[] {
  if (typed === undefined) return ['No hub is running, so this one lives only as long as the demo.'];
  return [
    `Playing on the hub at ${url}, in the workspace ${workspace}: its dashboard shows it.`,
    `No browser is signed in there yet? ${typed} link`,
  ];
}

function closing(
  { thread_id, status, summary, open_items, receipts }: Played,
  typed: string | undefined,
  flag: string,
  paint: Paint,
): string[] {
  return [
    '',
    `${paint('bold', 'Status')}   ${status}, ${open_items.length === 0 ? 'nothing is open' : `${open_items.length} open`}`,
    `${paint('bold', 'Summary')}  ${oneLine(summary)}`,
    `${paint('bold', 'Receipts')} who has read what (by acknowledged cursors, not by guess)`,
    ...receipts.map(
      ({ seq, read_by, unread_by }) =>
        `  ${`#${seq}`.padStart(4)}  read by ${read_by.join(', ') || 'nobody yet'}${unread_by.length === 0 ? '' : paint('yellow', `; unread by ${unread_by.join(', ')}`)}`,
    ),
    ...(typed === undefined
      ? []
      : [
          '',
          'It is in your record now, and a question waits for you on the dashboard. Look again:',
          `  ${typed} tail ${shownId(thread_id)}${flag}`,
          `  ${typed} why ${shownId(thread_id)} 2${flag}`,
          `  ${typed} ask ls${flag}`,
        ]),
  ];
}
