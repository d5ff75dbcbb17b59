/** Owns each Codex that it is given, with a turn under way and one that was interrupted, until it is killed. */
import { openCodex, type CodexOptions } from '@parley/runtimes';

type Given = Pick<CodexOptions, 'bin' | 'env' | 'cwd' | 'backend'>;

async function own(given: Given): Promise<void> {
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
}

await Promise.all((JSON.parse(process.argv[2] ?? '') as Given[]).map(own));
process.stdout.write('ready\n');
