/** Owns a Codex with a turn under way, and one that was interrupted, until it is killed. */
import { openCodex, type CodexOptions } from '@parley/runtimes';

const given = JSON.parse(process.argv[2] ?? '') as Pick<CodexOptions, 'bin' | 'env' | 'cwd' | 'backend'>;
const codex = openCodex({
  ...given,
  clientInfo: { name: 'owner', version: '0.0.0' },
  onEvent: () => {},
  onApproval: () => {},
  onExit: () => {},
  log: () => {},
});
const thread = { cwd: given.cwd, sandbox: 'read-only' };
const stuck = await codex.startThread(thread, { prompt: 'wait' });
await codex.interrupt(stuck.threadId);
await codex.startThread(thread, { prompt: 'wait' });
const lingering = await codex.startThread(thread, { prompt: 'linger 300' });
await lingering.turn;
process.stdout.write('ready\n');
