import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Command } from 'commander';

import type { AuditRecord } from '../audit/audit-record.ts';
import { createAuditReader } from '../audit/read-audit.ts';
import { print } from './output.ts';
import { teamFolder } from './sessions.ts';
import { settingsOf } from './settings.ts';

interface AuditOptions {
  identity?: string;
  agent?: string;
  lines: number;
  follow?: boolean;
}

const FOLLOW_MS = 200;

/** `atm-agent-mcp audit`: who did what under which identity. */
export function addAuditCommand(program: Command): void {
  program
    .command('audit')
    .description('the audit log of the team: tool calls, refused ones too, mail, turns and their ends')
    .option('--team <name>', 'team whose log it is')
    .option('--identity <name>', 'only what was done under this identity')
    .option('--agent <agent-id>', 'only what this session did')
    .option('-n, --lines <count>', 'only the last so many', wholeNumber, Number.POSITIVE_INFINITY)
    .option('-f, --follow', 'go on with what is yet to come')
    .addHelpText('after', '\nExample:\n  atm-agent-mcp audit --identity reviewer -n 20 -f')
    .action(async ({ identity, agent, lines, follow }: AuditOptions, command: Command) => {
      const loaded = settingsOf(command, ['team']);
      const path = join(teamFolder(loaded), 'audit.jsonl');
      const chosen = (record: AuditRecord): boolean =>
        (identity === undefined || record.identity === identity) &&
        (agent === undefined || record.agent_id === agent);
      const show = (record: AuditRecord): void => print(loaded.json, record, () => [lineOf(record)]);
      const readOn = createAuditReader(path);
      const last: AuditRecord[] = [];
      for await (const record of readOn()) {
        if (chosen(record)) last.push(record);
        if (last.length > lines) last.shift();
      }
      for (const record of last) show(record);
      if (follow !== true) return;
      const ending = new AbortController();
      const { signal } = ending;
      for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => ending.abort());
      process.stdout.once('error', () => ending.abort());
      while (!signal.aborted) {
        for await (const record of readOn()) if (chosen(record)) show(record);
        await sleep(FOLLOW_MS, undefined, { signal }).catch(() => {});
      }
    });
}

function wholeNumber(text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error('--lines takes a whole number above 0');
}

function lineOf(record: AuditRecord): string {
  const { ts, event, tool, source, identity, to, status, duration_ms, summary } = record;
  const call = status === undefined ? tool : `${tool}: ${status}`;
  const words = { turn: `turn (${source})`, turn_end: `turn ended: ${status}`, mail_held: 'mail held' };
  const what = event === 'tool_call' ? call : words[event];
  return [
    ts.slice(0, 19).replace('T', ' '),
    identity ?? '-',
    what,
    to === undefined ? '' : `→ ${to}`,
    duration_ms === undefined ? '' : `${duration_ms} ms`,
    summary ?? '',
  ]
    .filter((part) => part !== '')
    .join('  ');
}
