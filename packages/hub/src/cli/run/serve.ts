import { hideSecrets, ParleyError, table } from '@parley/protocol';
import { type Command, Option } from 'commander';

import type { LoadedConfig } from '../../config/load.ts';
import type { RunningHub } from '../../start.ts';
import { VERSION } from '../../version.ts';
import { EXIT, printLines, tell } from '../output.ts';
import { outliveOutput } from '../standard-output.ts';
import { personName } from '../connect.ts';
import { findHub } from '../find-hub.ts';
import { ownCommand } from '../own-command.ts';
import { dashboardLink } from './pair.ts';
import { pictureOf } from '../picture.ts';
import { settingsOf } from '../settings.ts';
import { painter } from '../style.ts';

interface ServeOptions {
  port?: string;
  host?: string;
  nats?: string;
  logLevel?: string;
  set?: string[];
  demo?: boolean;
  lan?: boolean;
}

/** `parley serve`: runs the hub until it is told to stop. */
export function addServeCommand(program: Command): void {
  program
    .command('serve')
    .description('run the hub until it is told to stop')
    .option('--port <port>', 'port to listen on; 0 takes a free one')
    .option('--host <address>', 'address to listen on')
    .option('--lan', 'also on the local network, for a tablet: TLS by its own authority, with a QR code')
    .option('--nats <url>', 'NATS that carries news between nodes: nats://…')
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
    nats: options.nats,
    'lan.enabled': options.lan === true ? 'true' : undefined,
    'log.level': options.logLevel,
    ...further,
  });
  const { json } = settings;
  if (options.demo !== true) refuseSecond(settings);
  const demo = options.demo === true ? await import('./demo/serve-demo.ts') : undefined;
  const config = demo?.demoConfig(settings.config) ?? settings.config;
  const { createLogger } = await import('../../logger.ts');
  const { start } = await import('../../start.ts');
  const { log, end } = createLogger(json ? config.log.level : calmLevel(settings));
  // The folder of a demo is nobody's usual one: what is typed must name it.
  if (demo !== undefined) settings.origins.set('data', 'flag');
  const own = { ...settings, config };
  const hub = await start(config, log, { command: ownCommand(own, { anywhere: true }) });
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
  outliveOutput();
  if (json) printLines([JSON.stringify({ ready: true, url: hub.url, pid: process.pid, ...lanTold(hub) })]);
  else await greet(hub, own, command);
}

function lanTold({ lan }: RunningHub): object {
  if (lan === undefined) return {};
  const { url, named, setup, fingerprint } = lan;
  return { lan: { url, named, setup, fingerprint } };
}

/** A second hub on one folder would only be refused: whoever starts it is told what runs, and what can be done. */
function refuseSecond(settings: LoadedConfig): void {
  const { data } = settings.config;
  const found = findHub(data);
  if (found === undefined) return;
  const typed = ownCommand(settings);
  throw new ParleyError(
    'CONFLICT',
    [
      `another hub is running on ${data}: ${found.url}, process ${found.pid}`,
      `  its dashboard     ${typed} link`,
      `  what goes on      ${typed} status`,
      `  stop it           kill ${found.pid}`,
      `  one more beside   ${programName(typed)} serve --data ANOTHER-FOLDER --port 0`,
    ].join('\n'),
    { url: found.url, pid: found.pid, data },
  );
}

/** How the program is typed, without what follows of it. */
function programName(typed: string): string {
  return typed.split(' --')[0] ?? typed;
}

function splitSetting(text: string): [string, string] {
  const mark = text.indexOf('=');
  if (mark < 1) throw new ParleyError('VALIDATION_ERROR', `--set ${text}: write key=value`);
  return [text.slice(0, mark), text.slice(mark + 1)];
}

/** A person at a terminal hears only of trouble, unless more was asked for. */
function calmLevel({ config, origins }: LoadedConfig): string {
  return process.stderr.isTTY && origins.get('log.level') === 'default' ? 'warn' : config.log.level;
}

/** What holds the record, in a few words. */
function recordName(store: string): string {
  return store === '' ? 'SQLite WAL ok' : `PostgreSQL ${hideSecrets(store)}`;
}

async function greet(hub: RunningHub, settings: LoadedConfig, command: Command): Promise<void> {
  const { config } = settings;
  const { url } = hub;
  const { key } = await hub.invite({ agent_id: personName(), workspace_id: config.workspace });
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
    `${paint('bold', `parley ${VERSION}`)}  ·  data ${settings.config.data}  ·  ${recordName(config.store)}`,
    `  Open    ${paint('bold', dashboardLink(url, key))}`,
    paint(
      'dim',
      `          (good once, for 30 minutes; another one: ${typed} link; a tablet: ${typed} pair)`,
    ),
    ...(await lanLines(hub, settings, command)),
    `  HTTP    ${url}/v1   (described at ${url}/v1/openapi.json)`,
    `  MCP     ${url}/mcp  (or on stdio: ${typed} mcp)`,
    `  Next, in another terminal${typed.startsWith('./') ? ' in this folder' : ''}:`,
    ...table(next.map(([line, what = '']) => [`    ${typed} ${line}`, paint('dim', what)])),
    '  Stop with Ctrl-C.',
  ]);
}

/** A fingerprint in two lines where people compare it: whole it is longer than most terminals are wide. */
function halvesOf(fingerprint: string): string[] {
  const middle = fingerprint.indexOf(':', fingerprint.length / 2) + 1;
  return process.stdout.isTTY ? [fingerprint.slice(0, middle), fingerprint.slice(middle)] : [fingerprint];
}

/** How a tablet gets here: once the authority, then the sign-in, each as a picture for its camera. */
async function lanLines(hub: RunningHub, { config }: LoadedConfig, command: Command): Promise<string[]> {
  const { lan } = hub;
  if (lan === undefined) return [];
  const { key } = await hub.invite({ agent_id: personName(), workspace_id: config.workspace });
  const link = dashboardLink(lan.url, key);
  const paint = painter(command);
  const picture = async (text: string): Promise<string[]> => (process.stdout.isTTY ? pictureOf(text) : []);
  return [
    '  Tablet  1. Once for each device, let it trust this hub:',
    ...(await picture(lan.setup)),
    `             ${paint('bold', lan.setup)}`,
    ...halvesOf(lan.fingerprint).map((half) => paint('dim', `             ${half}`)),
    '          2. Then sign it in (good once, for 30 minutes):',
    ...(await picture(link)),
    `             ${paint('bold', link)}`,
    paint('dim', `             also as ${lan.named} where the network knows that name`),
  ];
}
