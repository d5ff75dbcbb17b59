import type { Bus } from './bus.ts';
import type { Mirror } from './mirror.ts';
import type { NodeCalls } from './node-calls.ts';

/** The other nodes of this hub, and the ways to them; a hub that is alone has none. */
export interface Nodes {
  bus: Bus;
  mirror: Mirror;
  calls: NodeCalls;
}
