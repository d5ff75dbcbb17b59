import { existsSync } from 'node:fs';

import { ParleyError } from '@parley/protocol';
import { whichProgram } from '@parley/runtimes';
import { type Command, Option } from 'commander';

import type { Config } from '../../../config/schema.ts';
import { prepareFolder } from '../../../data-folder.ts';
import { quote } from '../../../shell-word.ts';
import { claudeHooks } from '../../../wake/claude-hooks.ts';
import { TRIED, untried } from '../../../wake/versions.ts';
import { print } from '../../output.ts';
import { settingsOf } from '../../settings.ts';
import { programVersion } from '../program-version.ts';
import { claudeSettingsFile, withClaudeHooks } from './claude-settings.ts';
import { CLIENTS, managedHint, type McpClient } from './clients.ts';
import { openConfigFile } from './config-file.ts';
import { changeConfig, undoConfig } from './edit-config.ts';
import { FILE_CLIENTS, type FileClient, withServer } from './file-clients.ts';
import { readJsonText } from './json-text.ts';
import { ownServer } from './own-server.ts';
import { runClient } from './run-client.ts';
import { tryServer } from './try-server.ts';

const USUAL_NAME = 'parley';

interface InitOptions {
  name: string;
  agent?: string;
  workspace?: string;
  print?: boolean;
  undo?: boolean;
  bin: string;
  scope: string;
  hook?: boolean;
}

/** `parley init`: one command that connects an installed agent, and takes it back. */
export function addInitCommands(program: Command): void {
  const init = program
    .command('init')
    .description("connect an agent's program: register the hub's tools there")
    .addHelpText(
      'after',
      '\nExamples:\n  parley init claude\n  parley init codex --agent reviewer\n  parley init mcp   (any other client: prints what it needs)',
    );
  for (const [name, client] of Object.entries(CLIENTS)) addClient(init, name, client);
  for (const [name, client] of Object.entries(FILE_CLIENTS)) addFileClient(init, name, client);
  const other = init.command('mcp').description('any other MCP client: print the JSON it needs');
  identity(other).action((options: InitOptions, command: Command) => {
    const { json, ...loaded } = settingsOf(command, { workspace: options.workspace });
    const [run = '', ...args] = ownServer(loaded, { agent: options.agent, client: 'agent' });
    const snippet = { mcpServers: { [options.name]: { command: run, args } } };
    print({ json }, snippet, () => JSON.stringify(snippet, null, 2).split('\n'));
  });
}

function identity(command: Command): Command {
  return command
    .option('--name <name>', 'name of the server there', checkName, USUAL_NAME)
    .option('--agent <id>', "agent id, always; else PARLEY_AGENT, else the program's name")
    .option('--workspace <id>', 'workspace id');
}

function common(command: Command): Command {
  return identity(command)
    .option('--print', 'only print what would be done')
    .option('--undo', 'take the registration back');
}

function addClient(init: Command, key: string, client: McpClient): void {
  const [first = 'user'] = client.scopes;
  const command = common(init.command(key))
    .description(`${client.title}, by its own \`${client.bin} mcp\` command`)
    .addOption(
      new Option('--scope <scope>', 'for whom it is registered').choices(client.scopes).default(first),
    )
    .option('--bin <program>', `the ${client.title} program`, client.bin)
    .action((options: InitOptions, self: Command) => initClient(key, client, options, self));
  if (client.hooks === true) command.option('--no-hook', 'leave out the hook by which the hub wakes it');
}

function addFileClient(init: Command, key: string, client: FileClient): void {
  common(init.command(key))
    .description(`${client.title}, in its own settings; the file is kept, and its comments stay`)
    .addOption(
      new Option('--scope <scope>', 'for whom it is registered').choices(client.scopes).default('user'),
    )
    .action((options: InitOptions, self: Command) => initFileClient(key, client, options, self));
}

/** Why the hub would not wake this Claude Code by its hook; undefined where it would. */
async function whyHookIsShut(bin: string, { wake }: Pick<Config, 'wake'>): Promise<string | undefined> {
  if (wake.any_version) return undefined;
  const path = whichProgram(bin, process.env['PATH'] ?? '', process.cwd()) ?? bin;
  return untried('claude_hook', await programVersion(path));
}

function hookLine(file: string, shut: string | undefined): string {
  const stands = `Its hook stands in ${file}`;
  if (shut === undefined) return `${stands}: the hub can wake its sessions by it.`;
  return `${stands}, but the hub does not wake this version by it (${shut}): it was tried from ${TRIED.claude_hook?.from} on. Update Claude Code, or see whether it works: parley verify-runtime claude`;
}

async function initClient(
  key: string,
  client: McpClient,
  options: InitOptions,
  command: Command,
): Promise<void> {
  const { json, ...loaded } = settingsOf(command, { workspace: options.workspace });
  const { data } = loaded.config;
  const { name, bin, scope } = options;
  const { title } = client;
  const server = ownServer(loaded, { agent: options.agent, client: key });
  const words = options.undo === true ? client.remove(name, scope) : client.add(name, server, scope);
  const shown = [bin, ...words].map(quote).join(' ');
  const hooks = client.hooks === true && options.hook !== false ? claudeHooks(server, name) : undefined;
  if (options.print === true)
    return print({ json }, { command: [bin, ...words], ...(hooks && { hooks }) }, () => [
      shown,
      ...(hooks === undefined
        ? []
        : [
            `${options.undo === true ? 'out of' : 'into'} ${claudeSettingsFile(scope)}:`,
            JSON.stringify({ hooks }, null, 2),
          ]),
    ]);
  const ownFile = client.file?.(scope);
  const own = ownFile === undefined ? undefined : openConfigFile(ownFile, data);
  const settings = client.hooks === true ? openConfigFile(claudeSettingsFile(scope), data) : undefined;
  const before = await client.registered(name, bin, scope);
  const reported = { client: key, name, command: [bin, ...words] };
  if (options.undo === true) {
    // What the person has taken out by hand leaves our hooks behind, and the other way round.
    const hadHooks =
      settings !== undefined && undoConfig(settings, (text) => withClaudeHooks(text, name, undefined));
    if (before !== undefined && own?.restore() !== true) await takeOut();
    own?.forget();
    if (before === undefined && !hadHooks)
      throw new ParleyError('NOT_FOUND', `'${name}' is not registered in ${title}`, { name });
    await mustStand(undefined);
    return print({ json }, { ...reported, registered: false }, () => [`'${name}' is gone from ${title}.`]);
  }
  // What cannot be read is told before anything is tried, and what cannot work is not registered.
  if (settings !== undefined) readJsonText(settings.read(), settings.path);
  const tools = await tryServer(server);
  prepareFolder(data);
  const notice = own === undefined ? await register() : await own.change(register);
  const isHooked =
    settings !== undefined && (await changeConfig(settings, (text) => withClaudeHooks(text, name, hooks)));
  const backups = [own, isHooked ? settings : undefined].flatMap((file) =>
    file !== undefined && existsSync(file.backup) ? [file.backup] : [],
  );
  const shut = hooks === undefined ? undefined : await whyHookIsShut(bin, loaded.config);
  const placed = hooks === undefined ? {} : { hooks: { file: settings?.path, ...(shut && { shut }) } };
  print({ json }, { ...reported, registered: true, tools, notice, ...placed, backups }, () => [
    `'${name}' is registered in ${title} and answers with ${tools} tools; it is there from the next session on.`,
    ...(notice === undefined ? [] : [notice]),
    ...(hooks === undefined ? [] : [hookLine(settings?.path ?? '', shut)]),
    ...backups.map((backup) => `The file as it was: ${backup}`),
    undoHint(key, options),
  ]);

  async function register(): Promise<string | undefined> {
    const found = own?.read() ?? '';
    if (before !== undefined) await runClient(bin, client.remove(name, scope));
    await runClient(bin, words);
    if (own !== undefined) {
      const written = own.read();
      own.write(client.keepLayout(found, written, name));
      // What cannot be said in the person's own layout, such as a table in one line, is said as the program does.
      if (!(await stands(server))) own.write(written);
    }
    const said = await client.afterwards?.(name, bin, own);
    await mustStand(server);
    return said;
  }

  async function takeOut(): Promise<void> {
    if (own !== undefined) {
      const rest = client.without(own.read(), name);
      if (/^\s*(?:\{\s*\}\s*)?$/.test(rest) && !own.existed) own.remove();
      else own.write(rest);
      if (await stands(undefined)) return;
    }
    await runClient(bin, words);
  }

  async function stands(expected: readonly string[] | undefined): Promise<boolean> {
    return JSON.stringify(await client.registered(name, bin, scope)) === JSON.stringify(expected);
  }

  async function mustStand(expected: readonly string[] | undefined): Promise<void> {
    if (await stands(expected)) return;
    throw new ParleyError('CONFLICT', `${title} did not do it as asked; do it by hand: ${shown}`);
  }
}

async function initFileClient(
  key: string,
  client: FileClient,
  options: InitOptions,
  command: Command,
): Promise<void> {
  const { json, ...loaded } = settingsOf(command, { workspace: options.workspace });
  const { name, scope } = options;
  const server = ownServer(loaded, { agent: options.agent, client: key });
  const wanted = options.undo === true ? undefined : server;
  if (options.print === true) {
    const [table = ''] = client.place(name);
    const entry = wanted === undefined ? null : client.entry(wanted);
    return print({ json: true }, { [table]: { [name]: entry } }, () => []);
  }
  const file = openConfigFile(client.file(scope), loaded.config.data);
  const reported = { client: key, name, file: file.path, registered: wanted !== undefined };
  if (wanted === undefined) {
    if (!undoConfig(file, (text) => withServer(client, text, name, undefined)))
      throw new ParleyError('NOT_FOUND', `'${name}' is not registered in ${file.path}`, { name });
    return print({ json }, reported, () => [`'${name}' is gone from ${file.path}.`]);
  }
  // What cannot be read is told before anything is tried.
  readJsonText(file.read(), file.path);
  const tools = await tryServer(server);
  prepareFolder(loaded.config.data);
  await changeConfig(file, (text) => withServer(client, text, name, wanted));
  const backup = existsSync(file.backup) ? file.backup : undefined;
  print({ json }, { ...reported, tools, backup }, () => [
    `'${name}' stands in ${file.path} and answers with ${tools} tools.`,
    ...(backup === undefined ? [] : [`The file as it was: ${backup}`]),
    managedHint(key),
    undoHint(key, options),
  ]);
}

/** The command that takes back what was done just now. */
function undoHint(key: string, { name, scope }: InitOptions): string {
  const words = [
    ...(scope === 'user' ? [] : ['--scope', scope]),
    ...(name === USUAL_NAME ? [] : ['--name', name]),
  ];
  return `To take it back: ${['parley', 'init', key, '--undo', ...words].join(' ')}`;
}

/** Stands in other programs' configuration files, as a key. */
function checkName(name: string): string {
  if (/^[A-Za-z][\w-]{0,62}$/.test(name)) return name;
  throw new ParleyError('VALIDATION_ERROR', '--name: letters, digits, - and _ only, a letter first');
}
