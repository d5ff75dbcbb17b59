import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort } from '../../harness/free-port.ts';

/** A browser that a WebDriver program drives. */
export interface Session {
  call(method: 'GET' | 'POST' | 'DELETE', path: string, body?: object): Promise<unknown>;
  /** Runs the body of a function in the page, with these arguments. */
  run(script: string, ...args: unknown[]): Promise<unknown>;
  close(): Promise<void>;
}

/** What a WebDriver program refused, by its own word for it. */
export class WebDriverError extends Error {
  readonly word: string;
  constructor({ error, message }: { error: string; message: string }) {
    super(`${error}: ${message}`);
    this.word = error;
  }
}

// A session without a display is never answered, nor is a call to a browser that has gone.
const CALL_MS = 60_000;
const START_MS = 20_000;

/** Starts the program on a port of its own, and one browser behind it. */
export async function openSession(
  program: string,
  capabilities: object,
  { env, cwd }: { env: NodeJS.ProcessEnv; cwd: string },
): Promise<Session> {
  const port = await freePort();
  // A group of its own: the browser has processes that the program does not know.
  const driver = spawn(program, [`--port=${port}`, '--host=127.0.0.1'], {
    env,
    cwd,
    detached: true,
    stdio: 'ignore',
  });
  const send = async (method: string, path: string, body?: object): Promise<unknown> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(CALL_MS),
    });
    const { value } = (await answer.json()) as { value: unknown };
    if (!answer.ok) throw new WebDriverError(value as { error: string; message: string });
    return value;
  };
  try {
    await answering(driver, () => send('GET', '/status'));
    const { sessionId } = (await send('POST', '/session', {
      capabilities: { alwaysMatch: capabilities },
    })) as { sessionId: string };
    const call: Session['call'] = (method, path, body) => send(method, `/session/${sessionId}${path}`, body);
    return {
      call,
      run: (script, ...args) => call('POST', '/execute/sync', { script, args }),
      async close() {
        await call('DELETE', '').catch(() => undefined);
        endGroup(driver);
      },
    };
  } catch (error) {
    endGroup(driver);
    throw error;
  }
}

async function answering(driver: ChildProcess, ask: () => Promise<unknown>): Promise<void> {
  const until = performance.now() + START_MS;
  for (;;) {
    const failure = await ask().then(
      () => undefined,
      (error: unknown) => error,
    );
    if (failure === undefined) return;
    if (driver.exitCode !== null) throw new Error(`the WebDriver program ended with ${driver.exitCode}`);
    if (performance.now() > until)
      throw new Error('the WebDriver program does not answer', { cause: failure });
    await sleep(50);
  }
}

function endGroup(driver: ChildProcess): void {
  if (driver.pid === undefined) return;
  try {
    process.kill(-driver.pid, 'SIGKILL');
  } catch {
    // All of them have ended by themselves.
  }
}
