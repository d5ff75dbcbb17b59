import { text as readText } from 'node:stream/consumers';

import type { Mail, TeamMail } from '@parley/mail';
import { ParleyError, showUnseen, showUnseenLine } from '@parley/protocol';
import { type Command, InvalidArgumentError } from 'commander';

import { type LoadedConfig, loadConfig } from '../config/load.ts';
import type { SettingName } from '../config/schema.ts';
import { createLog } from '../logger.ts';
import { openTeamMail } from '../mail/open-team-mail.ts';
import { print } from './output.ts';

interface MailFlags {
  as?: string;
  team?: string;
  json?: boolean;
}

interface ReadFlags {
  all?: boolean;
  markRead?: boolean;
  limit?: number;
  since?: string;
  from?: string;
}

/** `atm-agent-mcp mail`: a person's look into team inboxes, and a word to an agent. */
export function addMailCommand(program: Command): void {
  const mail = program.command('mail').description('team mail: who has some, read it, send it');
  withPlace(mail.command('ls'))
    .description('the members of the team and their unread mail')
    .action(async (_options: unknown, command: Command) => {
      const { teamMail, json } = open(command);
      const rows = await Promise.all((await teamMail.members()).map((member) => describe(teamMail, member)));
      print(json, { members: rows }, () => linesOf(rows));
    });
  withPlace(mail.command('read'))
    .description('the unread mail of one agent; it stays unread')
    .option('--all', 'also what was read, and what Claude Code has deleted since')
    .option('--mark-read', 'mark what is shown, so that the agent itself will not get it as new')
    .option('--limit <n>', 'at most so many: of unread mail the oldest, of all mail the newest', whole)
    .option('--since <instant>', 'only what is newer, such as 2026-02-18T09:30:00Z')
    .option('--from <agent>', 'only what this agent wrote')
    .addHelpText('after', '\nExample:\n  atm-agent-mcp mail read --as arch --all --limit 20')
    .action(async ({ markRead, ...query }: ReadFlags, command: Command) => {
      const { teamMail, json, identity } = open(command);
      const messages = await teamMail.read(identity, { ...query, mark_read: markRead === true });
      print(json, { agent: identity, messages }, () =>
        messages.length === 0 ? [`no mail for ${identity}`] : messages.flatMap(show),
      );
    });
  withPlace(mail.command('send'))
    .description('send a mail; the message - is read from stdin')
    .argument('<to>', 'agent, agent@team, or an alias')
    .argument('<message>', 'the text, or - for stdin')
    .option('--summary <text>', 'one line; the first words of the message when left out')
    .option('--message-id <id>', 'the same id again sends nothing')
    .addHelpText('after', '\nExample:\n  atm-agent-mcp mail send team-lead "the build is green" --as arch')
    .action(
      async (
        to: string,
        message: string,
        { summary, messageId }: { summary?: string; messageId?: string },
        command: Command,
      ) => {
        const { teamMail, json, identity } = open(command);
        const said = message === '-' ? await readText(process.stdin) : message;
        const sent = await teamMail.send(identity, { to, message: said, summary, message_id: messageId });
        print(json, sent, () => [
          sent.duplicate
            ? `sent before to ${sent.to}: ${sent.message_id}`
            : `put into the inbox of ${sent.to}: ${sent.message_id}`,
        ]);
      },
    );
}

function withPlace(command: Command): Command {
  return command
    .option('--as <agent>', 'whose mail this is; the identity of the configuration when left out')
    .option('--team <name>', 'the team; that of the configuration when left out');
}

function open(command: Command) {
  const { as, team, json } = command.optsWithGlobals<MailFlags>();
  const settings: Partial<Record<SettingName, unknown>> = { client_identity: as, team };
  const config: LoadedConfig = loadConfig({ settings }, process.env, process.cwd());
  const log = createLog(
    config.settings.log_level,
    (line) => process.stderr.write(line),
    () => new Date(),
  );
  for (const { key, file } of config.ignored)
    log('warn', 'a setting of an untrusted repository was ignored', { key, file });
  const { client_identity, identity } = config.settings;
  return { teamMail: openTeamMail(config, log), json: json === true, identity: client_identity ?? identity };
}

async function describe(teamMail: TeamMail, { name, is_lead }: { name: string; is_lead: boolean }) {
  try {
    return { agent: name, is_lead, unread: await teamMail.pending(name) };
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    return { agent: name, is_lead, unread: null, problem: error.message };
  }
}

function linesOf(rows: Awaited<ReturnType<typeof describe>>[]): string[] {
  const width = Math.max(5, ...rows.map(({ agent }) => agent.length));
  return rows.map(({ agent, is_lead, unread, problem }) =>
    [agent.padEnd(width), problem ?? `${unread} unread`, is_lead ? '(lead)' : ''].join('  ').trimEnd(),
  );
}

function show({ from, source_team, timestamp, message_id, message, read }: Mail): string[] {
  const sender = source_team === undefined ? from : `${from}@${source_team}`;
  const head = `${timestamp}  ${sender}  ${message_id}${read ? '  (read)' : ''}`;
  return [
    showUnseenLine(head),
    ...showUnseen(message)
      .split('\n')
      .map((line) => `    ${line}`),
    '',
  ];
}

function whole(text: string): number {
  const number = Number(text);
  if (/^\d+$/.test(text) && number >= 1) return number;
  throw new InvalidArgumentError('must be a whole number from 1');
}
