import { type ChildExit, type Codex, type CodexFacts, type CodexOptions, openCodex } from '@parley/runtimes';

import type { LoadedConfig } from './config/load.ts';
import type { Log } from './logger.ts';
import { VERSION } from './version.ts';

type Heard = Pick<CodexOptions, 'onEvent' | 'onApproval' | 'onApprovalClosed' | 'onRequest'>;

/** What of the configuration concerns the child. */
type ChildConfig = Pick<LoadedConfig, 'settings' | 'paths' | 'places'>;

export interface OpenChildOptions extends Required<Heard> {
  config: ChildConfig;
  env: NodeJS.ProcessEnv;
  log: Log;
  /** The child runs; called once. */
  onStart: (facts: CodexFacts) => void;
  onExit: () => void;
}

/** The one Codex of this proxy, and what is known of it without waking it. */
export interface Child {
  codex: Codex;
  /** Starts it if nothing has yet; throws when it is gone. */
  awake(): Promise<Codex>;
  facts(): CodexFacts | undefined;
  exit(): ChildExit | undefined;
  /** The facts of a child that runs. */
  living(): CodexFacts | undefined;
}

/** What belongs to the client's own session and is no business of Codex. */
const PRIVATE = /^(CLAUDECODE$|CLAUDE_CODE_|ATM_IDENTITY$)/;

/** Prepares the child, which the first request that needs it starts. */
export function openChild(options: OpenChildOptions): Child {
  const { config, env, log, onStart, onExit, ...heard } = options;
  const { settings, paths, places } = config;
  let facts: CodexFacts | undefined;
  let exit: ChildExit | undefined;
  let isClosing = false;
  const opened = openCodex({
    ...heard,
    bin: paths.codex_bin,
    env: childEnvironment(env),
    // What a repository brings along is read for its own threads only, never for the child itself.
    cwd: places.home,
    backend: settings.transport,
    clientInfo: { name: 'atm-agent-mcp', title: 'atm-agent-mcp', version: VERSION },
    onExit(how) {
      exit = how;
      log(isClosing ? 'info' : 'error', 'the Codex process ended', {
        exit_code: how.code,
        signal: how.signal,
      });
      onExit();
    },
    log,
  });
  async function start(): Promise<CodexFacts> {
    const started = await opened.start();
    if (facts === undefined) {
      facts = started;
      onStart(started);
    }
    return started;
  }
  const codex: Codex = {
    ...opened,
    start,
    async request(method, params, how) {
      await start();
      return opened.request(method, params, how);
    },
    close() {
      isClosing = true;
      return opened.close();
    },
  };
  return {
    codex,
    async awake() {
      await start();
      return codex;
    },
    facts: () => facts,
    exit: () => exit,
    living: () => (exit === undefined ? facts : undefined),
  };
}

function childEnvironment(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => {
      const [name, value] = entry;
      return value !== undefined && !PRIVATE.test(name);
    }),
  );
}
