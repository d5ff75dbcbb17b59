import { type Command, Option } from 'commander';

import type { LoadedConfig } from '../config/load.ts';
import type { RunningHub } from '../start.ts';
import { VERSION } from '../version.ts';
import { EXIT, printLines, tell } from './output.ts';
import { personName } from './connect.ts';
import { ownCommand } from './own-command.ts';
import { dashboardLink } from './pair.ts';
import { settingsOf } from './settings.ts';
import { painter } from './style.ts';
import { table } from './table.ts';

interface ServeOptions {
  port?: string;
  host?: string;
  logLevel?: string;
  set?: string[];
  demo?: boolean;
}

/** `parley serve`: runs the hub until it is told to stop. */
export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('run the hub until it is told to stop')
    .option('--port <port>', 'port to listen on; 0 takes a free one')
    .option('--host <address>', 'address to listen on')
    .addOption(
      new Option('--log-level <level>', 'how much goes to stderr').choices([
        'trace',
        'debug',
        'info',
        'warn',
        'error',
        'silent',
      ]),
    )
    .option('--set <key=value...>', 'set any configuration value')
    .option('--demo', 'a hub to look at: filled with a recorded day, gone when it stops')
    .addHelpText('after', '\nExample:\n  parley serve --port 8621 --set quota.messages_per_minute=600')
    .action((options: ServeOptions, command: Command) => serve(options, command));
}

async function serve(options: ServeOptions, command: Command): Promise<void> {
  const further = Object.fromEntries((options.set ?? []).map(splitSetting));
  const settings = settingsOf(command, {
    port: options.port,
    host: options.host,
    'log.level': options.logLevel,
    ...further,
  });
  const { json } = settings;
  const demo = options.demo === true ? await import('./serve-demo.ts') : undefined;
  const config = demo?.demoConfig(settings.config) ?? settings.config;
  const { createLogger } = await import('../logger.ts');
  const { start } = await import('../start.ts');
  const { log, end } = createLogger(json ? config.log.level : calmLevel(settings));
  // The folder of a demo is nobody's usual one: what is typed must name it.
  if (demo !== undefined) settings.origins.set('data', 'flag');
  const own = { ...settings, config };
  const hub = await start(config, log, { command: ownCommand(own) });
  await demo?.fillDemo(hub, config);
  let stopping = false;
  const stop = (signal: string): void => {
    if (stopping) {
      void end(EXIT.failure);
      return;
    }
    stopping = true;
    log.info({ signal }, 'stopping');
    hub.close().then(
      () => end(EXIT.ok),
      (error: unknown) => {
        tell(`parley: could not stop cleanly: ${String(error)}`);
        return end(EXIT.failure);
      },
    );
  };
  // Whoever reads the ready line may stop the hub at once.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => stop(signal));
  if (json) printLines([JSON.stringify({ ready: true, url: hub.url, pid: process.pid })]);
  else greet(hub, own, command);
}

function splitSetting(text: string): [string, string] {
  const mark = text.indexOf('=');
  return mark < 0 ? [text, ''] : [text.slice(0, mark), text.slice(mark + 1)];
}

/** A person at a terminal hears only of trouble, unless more was asked for. */
function calmLevel({ config, origins }: LoadedConfig): string {
  return process.stderr.isTTY && origins.get('log.level') === 'default' ? 'warn' : config.log.level;
}

function greet(hub: RunningHub, settings: LoadedConfig, command: Command): void {
  const { config } = settings;
  const { url } = hub;
  const { key } = hub.invite({ agent_id: personName(), workspace_id: config.workspace });
  const paint = painter(command);
  const typed = ownCommand(settings);
  const next = [
    ['demo', 'watch two agents work through a review'],
    ['thread new "Hello"', 'start a thread of your own'],
    ['init claude', 'connect Claude Code; or codex, gemini, opencode'],
    ['token issue --agent alice', 'a token for any other agent'],
    ['--help', 'everything else'],
  ];
  printLines([
    `${paint('bold', `parley ${VERSION}`)}  ·  data ${settings.config.data}  ·  SQLite WAL ok`,
    `  Open    ${paint('bold', dashboardLink(url, key))}`,
    paint(
      'dim',
      `          (good once, for 30 minutes; another one: ${typed} link; a tablet: ${typed} pair)`,
    ),
    `  HTTP    ${url}/v1   (described at ${url}/v1/openapi.json)`,
    `  MCP     ${url}/mcp  (or on stdio: ${typed} mcp)`,
    `  Next, in another terminal${typed.startsWith('npx') ? ' in this folder' : ''}:`,
    ...table(next.map(([line, what = '']) => [`    ${typed} ${line}`, paint('dim', what)])),
    '  Stop with Ctrl-C.',
  ]);
}
