import { type Command, Option } from 'commander';

import { createLogger } from '../logger.ts';
import { start } from '../start.ts';
import { VERSION } from '../version.ts';
import { EXIT, tell } from './output.ts';
import { settingsOf } from './settings.ts';

interface ServeOptions {
  port?: string;
  host?: string;
  logLevel?: string;
  set?: string[];
}

/** `parley serve`: runs the hub until it is told to stop. */
export function addServeCommand(program: Command): void {
  program
    .command('serve', { isDefault: true })
    .description('run the hub')
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
    .action((options: ServeOptions, command: Command) => serve(options, command));
}

async function serve(options: ServeOptions, command: Command): Promise<void> {
  const further = Object.fromEntries((options.set ?? []).map(splitSetting));
  const { config, json } = settingsOf(command, {
    port: options.port,
    host: options.host,
    'log.level': options.logLevel,
    ...further,
  });
  const { log, flush } = createLogger(config.log.level);
  const hub = await start(config, log);
  let stopping = false;
  const stop = (signal: string): void => {
    if (stopping) process.exit(EXIT.failure);
    stopping = true;
    log.info({ signal }, 'stopping');
    hub.close().then(
      () => {
        flush();
        process.exit(EXIT.ok);
      },
      (error: unknown) => {
        tell(`parley: could not stop cleanly: ${String(error)}`);
        process.exit(EXIT.failure);
      },
    );
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => stop(signal));
  // Whoever reads that the hub is ready may stop it in the same moment.
  if (json) process.stdout.write(`${JSON.stringify({ ready: true, url: hub.url, pid: process.pid })}\n`);
  else greet(hub.url, config.data);
}

function splitSetting(text: string): [string, string] {
  const mark = text.indexOf('=');
  return mark < 0 ? [text, ''] : [text.slice(0, mark), text.slice(mark + 1)];
}

function greet(url: string, data: string): void {
  process.stdout.write(
    [
      `parley ${VERSION}  ·  data ${data}  ·  SQLite WAL ok`,
      `  HTTP    ${url}/v1      (described at ${url}/v1/openapi.json)`,
      `  MCP     ${url}/mcp`,
      `  Next    parley demo                         watch two agents work through a review`,
      `          parley token issue --agent alice    a token for your first agent`,
      '',
    ].join('\n'),
  );
}
