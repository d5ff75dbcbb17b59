import type { Base } from '../command.ts';

/** A process asks for a lease, or renews what it has. */
export type TakeLease = Base<
  'take_lease',
  { name: string; owner: string; ttl_ms?: number },
  {
    epoch: number;
    /** When whoever had it before took it last or gave it back. */
    last_held?: string;
  }
>;
export type ReleaseLease = Base<'release_lease', { name: string; owner: string }>;

/** What changes the jobs of the hub itself. */
export type LeaseCommands = TakeLease | ReleaseLease;
