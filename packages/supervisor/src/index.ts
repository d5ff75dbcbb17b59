export type { FoundHub } from './hub-link.ts';
export { supervise, type SuperviseOptions } from './supervise.ts';
export { type ManagedNews, runManaged } from './managed/run-managed.ts';
