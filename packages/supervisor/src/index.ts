export type { FoundHub } from './hub-link.ts';
export { supervise, type SuperviseOptions } from './supervise.ts';
