/** No word has this letter: it is for private use, and taken out of what people write. */
const PRIVATE = '\u{e000}';

/** How many messages a block of a workspace's index holds: the least that a search looks through at once. */
export const BLOCK = 8_192;

/** The rows of one workspace stand together in the index; so many positions fit into each. */
const POSITIONS = 2n ** 36n;

/** The rows of a workspace in the index: from the first up to, but without, the second. */
export function rowsOf(workspace: number): { first: bigint; past: bigint } {
  return { first: BigInt(workspace) * POSITIONS, past: BigInt(workspace + 1) * POSITIONS };
}

/** The words that the hub adds to a message, so that a search can name where it looks. */
export const mark = {
  workspace: (id: number): string => `${PRIVATE}w${id}`,
  block: (id: number): string => `${PRIVATE}b${id}`,
  thread: (id: number): string => `${PRIVATE}t${id}`,
  /** A side channel has that of its main thread as well: whoever reads the one may read the other. */
  audience: (id: number): string => `${PRIVATE}a${id}`,
};

/** What people wrote, without any mark of ours. */
export function unmarked(text: string): string {
  return text.replaceAll(PRIVATE, ' ');
}
