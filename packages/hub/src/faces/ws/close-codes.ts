/** The codes with which the hub ends a connection. */
export const CLOSE = {
  /** The hub is stopping. */
  going_away: 1001,
  /** A flood of pings or of refused messages. */
  policy: 1008,
  /** The peer did not read for too long. */
  try_again: 1013,
  /** The token is no longer good. */
  unauthorized: 4401,
  /** The same session has connected again. */
  replaced: 4409,
} as const;
