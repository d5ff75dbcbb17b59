// Loaded into a hub with `node --import`: on SIGPROF it runs out of memory, as a process in trouble does.
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  process.on('SIGPROF', () => {
    const hoard = [];
    for (;;) hoard.push(Array.from({ length: 100_000 }, () => hoard.length));
  });
}
