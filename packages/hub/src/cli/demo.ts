import { type Client, createClient } from '@parley/client';
import type { Command } from 'commander';

import type { Config } from '../config/schema.ts';
import { type AgentName, AGENTS } from './demo-script.ts';
import { openDemoHub } from './demo-hub.ts';
import { type Played, play } from './demo-play.ts';
import { oneLine } from './harmless.ts';
import { messageLines } from './message-lines.ts';
import { print, printLines } from './output.ts';
import { ownCommand } from './own-command.ts';
import { settingsOf } from './settings.ts';
import { type Paint, painter } from './style.ts';

/** The demo's own workspace: what is played never mixes with what is meant. */
const WORKSPACE = 'demo';
const PAUSE_MS = 900;
const TTL_MS = 600_000;

/** `parley demo`: two agents and a coordinator play a code review over the real hub. */
export function addDemoCommand(program: Command): void {
  program
    .command('demo')
    .description('watch two scripted agents work through a review, on your hub or a passing one')
    .option('--fast', 'without pauses')
    .addHelpText('after', '\nExample:\n  parley demo --fast')
    .action(async (options: { fast?: boolean }, command: Command) => {
      const settings = settingsOf(command);
      const { json } = settings;
      const paint = painter(command);
      const hub = await openDemoHub(settings.config);
      try {
        const clients = await enrol(hub.config, hub.url);
        if (!json) printLines([heading(hub.passing, hub.url), '']);
        const played = await play(clients, {
          pauseMs: process.stdout.isTTY && !json && options.fast !== true ? PAUSE_MS : 0,
          onMessage: (message) => (json ? undefined : printLines(messageLines(message, paint))),
          onHalfWay: (open) =>
            json ? undefined : printLines([paint('dim', `      ── half way: ${open} items open ──`)]),
        });
        const typed = hub.passing ? undefined : ownCommand(settings);
        print({ json }, { workspace: WORKSPACE, url: hub.url, ...played }, () =>
          closing(played, typed, paint),
        );
      } finally {
        await hub.close();
      }
    });
}

async function enrol(config: Config, url: string): Promise<Record<AgentName, Client>> {
  const { issueToken } = await import('../auth/issue-token.ts');
  const entries = Object.entries(AGENTS).map(async ([agent_id, role]) => {
    const request = {
      agent_id,
      workspace_id: WORKSPACE,
      role,
      session_id: `demo-${agent_id}`,
      ttl_ms: TTL_MS,
    };
    const { token } = await issueToken(config, request, Date.now());
    return [agent_id, createClient({ url, token })];
  });
  return Object.fromEntries(await Promise.all(entries)) as Record<AgentName, Client>;
}

function heading(passing: boolean, url: string): string {
  return passing
    ? 'No hub is running, so this one lives only as long as the demo.'
    : `Playing on the hub at ${url}, in the workspace ${WORKSPACE}.`;
}

function closing(
  { thread_id, status, summary, open_items, receipts }: Played,
  typed: string | undefined,
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
          'It is in your record now. Look again:',
          `  ${typed} tail ${thread_id} --workspace ${WORKSPACE}`,
          `  ${typed} why ${thread_id} 2 --workspace ${WORKSPACE}`,
        ]),
  ];
}
