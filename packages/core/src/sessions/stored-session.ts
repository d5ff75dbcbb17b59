import type { Session } from '@parley/protocol';

/** A session as it is kept: what callers see, and since when its status is what it is. */
export interface StoredSession extends Session {
  since: string;
}
