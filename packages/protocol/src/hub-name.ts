/** The name under which the hub itself speaks, on every face and in the log. */
export const HUB_NAME = 'parley';

/** Names that already mean something in a record, in any case of their letters: the hub itself, and everybody. */
export const RESERVED_NAMES: readonly string[] = [HUB_NAME, 'system', 'all'];
