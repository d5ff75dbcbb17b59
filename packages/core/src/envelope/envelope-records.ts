/** The highest seq that a sender has used in one of its contexts. */
export interface LastSeq {
  seq: number;
}

/** A nonce that was used, until the moment when its token would be refused anyway. */
export interface UsedNonce {
  workspace_id: string;
  key: string;
  until: number;
}

/** An old name of a role, or an action that is to end, and the quarter in which its use was last remarked upon. */
export interface UsedAlias {
  alias: string;
  quarter: string;
  /** When the end of an action was first announced to this workspace. */
  announced_at?: string;
}

/** A service of the registry. */
export interface Service {
  service_id: string;
  reported: 'healthy' | 'degraded';
  note?: string;
  since: string;
  last_seen_at: string;
  revision: number;
}
