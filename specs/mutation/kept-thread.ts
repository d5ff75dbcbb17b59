import type { PoolWorker, TestProject } from 'vitest/node';
import { ThreadsPoolWorker } from 'vitest/node';

type Options = ConstructorParameters<typeof ThreadsPoolWorker>[0];
type Request = Parameters<PoolWorker['send']>[0];
type Listener = (message: unknown) => void;

/** The thread that outlives a run, and how its tests are set up. */
interface Kept {
  thread: ThreadsPoolWorker;
  config: TestProject['serializedConfig'] | undefined;
}

let kept: Kept | undefined;

/**
 * A pool of one thread that vitest believes to be new for each run. What the tests import is loaded once for all
 * mutants and not once for each, as Stryker's runners for other test frameworks do.
 */
export const keptThread = {
  name: 'kept thread',
  createPoolWorker(options: Options): PoolWorker {
    const listeners: [event: string, listener: Listener][] = [];
    const threadOf = (): ThreadsPoolWorker => {
      if (kept === undefined) throw new Error('the thread was not started');
      return kept.thread;
    };
    const reply = (type: 'started' | 'stopped'): void => {
      const response = { __vitest_worker_response__: true, type };
      for (const [event, listener] of listeners)
        if (event === 'message') queueMicrotask(() => listener(response));
    };
    return {
      name: keptThread.name,
      deserialize: (data) => data,
      async start() {
        if (kept !== undefined) return;
        const thread = new ThreadsPoolWorker(options);
        await thread.start();
        thread.on('exit', () => (kept = undefined));
        kept = { thread, config: undefined };
      },
      async stop() {
        for (const [event, listener] of listeners.splice(0)) kept?.thread.off(event, listener);
      },
      on(event, listener) {
        listeners.push([event, listener]);
        threadOf().on(event, listener);
      },
      off(event, listener) {
        const at = listeners.findIndex((one) => one[0] === event && one[1] === listener);
        if (at >= 0) listeners.splice(at, 1);
        kept?.thread.off(event, listener);
      },
      send(message: Request) {
        const own = kept;
        if (own === undefined) return;
        if (message.type === 'stop') return reply('stopped');
        if (message.type === 'start') {
          const isFirst = own.config === undefined;
          own.config = message.context.config;
          // Started twice, it would listen twice.
          return isFirst ? own.thread.send(message) : reply('started');
        }
        if (message.type === 'run')
          // Which tests are to run stands in the settings, which a new thread would have got at its start.
          return own.thread.send({
            ...message,
            context: { ...message.context, config: own.config },
          } as Request);
        own.thread.send(message);
      },
    };
  },
};
