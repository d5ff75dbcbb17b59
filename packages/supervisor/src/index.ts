export type { FoundHub } from './hub-link.ts';
export { runBetweenPipes } from './run-between-pipes.ts';
export { supervise, type SuperviseOptions } from './supervise.ts';
export { type ManagedNews, runManaged } from './managed/run-managed.ts';
