import { askProgram, type Question, versionOf } from '../process/ask-program.ts';
import { RuntimeError } from '../runtime-error.ts';
import type { BackendName } from './backend.ts';

/** Which server of the binary is used, and why. */
export interface BackendChoice {
  backend: BackendName;
  reason: string;
  version: string | undefined;
}

/** The first release whose app-server speaks the protocol that this driver knows. */
const OLDEST_APP_SERVER = [0, 153] as const;

/** Asks the binary what it has: newer ones take an unknown server's name for a prompt and open a terminal. */
export async function chooseBackend(
  question: Question,
  wanted: 'auto' | BackendName,
): Promise<BackendChoice> {
  const version = await versionOf(question);
  if (wanted !== 'auto') {
    if ((await has(question, wanted)) !== 'no') return { backend: wanted, version, reason: 'as configured' };
    throw new RuntimeError('BACKEND_MISSING', `codex ${version ?? 'of unknown version'} has no ${wanted}`);
  }
  const name = `codex ${version ?? 'of unknown version'}`;
  const appServer = await has(question, 'app-server');
  if (appServer === 'yes' && !isOlder(version))
    return { backend: 'app-server', version, reason: `${name} has an app-server` };
  const mcpServer = await has(question, 'mcp-server');
  if (mcpServer === 'yes') {
    const reason =
      appServer === 'yes'
        ? `the app-server of ${name} is older than the one this driver knows`
        : `${name} has no app-server`;
    return { backend: 'mcp-server', version, reason };
  }
  if (appServer === 'yes')
    return { backend: 'app-server', version, reason: `${name} has nothing but an old app-server` };
  if (mcpServer === 'unknown' && appServer === 'unknown')
    return { backend: 'mcp-server', version, reason: `${name} does not say what it has` };
  throw new RuntimeError('BACKEND_MISSING', `${name} has neither an app-server nor an mcp-server`);
}

async function has(question: Question, server: BackendName): Promise<'yes' | 'no' | 'unknown'> {
  const help = await askProgram(question, [server, '--help']);
  const usage = /^Usage:.*$/m.exec(help)?.[0];
  if (usage === undefined) return /unrecognized subcommand/.test(help) ? 'no' : 'unknown';
  return usage.includes(` ${server}`) ? 'yes' : 'no';
}

function isOlder(version: string | undefined): boolean {
  if (version === undefined) return false;
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [oldestMajor, oldestMinor] = OLDEST_APP_SERVER;
  return major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
}
