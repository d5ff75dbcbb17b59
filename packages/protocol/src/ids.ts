/** Crockford's alphabet, as ULIDs use it. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

const TIME_CHARS = 10;
const SEQ_CHARS = 11;
const SALT_CHARS = 5;

/** How many values the random tail of an entry id can take. */
export const ENTRY_SALT_BOUND = 32 ** SALT_CHARS;

/**
 * The ULID of an entry: its time, then its seq, then a random tail. Ids of one thread sort like its log, are
 * unique whatever the clock does, and lead back to their entry without an index.
 */
export function entryUlid(atMs: number, seq: number, salt: number): string {
  return base32(atMs, TIME_CHARS) + base32(seq, SEQ_CHARS) + base32(salt, SALT_CHARS);
}

/** The message id under which an entry is known on the hub's faces. */
export function messageId(unique: string): string {
  return `msg_${unique}`;
}

const MESSAGE_ID = /^msg_([0-9A-HJKMNP-TV-Z]{10})([0-9A-HJKMNP-TV-Z]{11})[0-9A-HJKMNP-TV-Z]{5}$/;

/** The seq that a message id claims to stand at; undefined for what cannot be one of our ids. */
export function seqOfMessageId(id: string): number | undefined {
  return fromBase32(MESSAGE_ID.exec(id)?.[2]);
}

/** The time that a message id claims, in milliseconds; undefined for what cannot be one of our ids. */
export function timeOfMessageId(id: string): number | undefined {
  return fromBase32(MESSAGE_ID.exec(id)?.[1]);
}

/** A plain ULID from a time and sixteen random base-32 digits (80 bits). */
export function ulid(atMs: number, random: Uint8Array): string {
  let tail = '';
  for (let i = 0; i < 16; i++) tail += ALPHABET[(random[i] ?? 0) & 31];
  return base32(atMs, TIME_CHARS) + tail;
}

const THREAD_ID = /^th_[0-9A-HJKMNP-TV-Z]{26}([0-9a-hjkmnp-tv-z]{4})$/;

/** A thread id ends in its workspace's tag, so that a foreign one is refused before any look-up. */
export function threadId(unique: string, workspaceTag: string): string {
  return `th_${unique}${workspaceTag}`;
}

/** The workspace tag inside a thread id; undefined when the hub can never have made such an id. */
export function tagOfThreadId(id: string): string | undefined {
  return THREAD_ID.exec(id)?.[1];
}

/** An id of something else that belongs to a workspace, whose tag ends it likewise. */
export function scopedId(prefix: string, unique: string, workspaceTag: string): string {
  return `${prefix}_${unique}${workspaceTag}`;
}

/** The workspace tag inside such an id; undefined when the hub can never have made it. */
export function tagOfScopedId(id: string): string | undefined {
  return SCOPED_ID.exec(id)?.[1];
}

const SCOPED_ID = /^[a-z]{3}_[0-9A-HJKMNP-TV-Z]{26}([0-9a-hjkmnp-tv-z]{4})$/;

/** Four lower-case base-32 digits out of the first bytes of a workspace's digest. */
export function tagFromDigest(digest: Uint8Array): string {
  let tag = '';
  for (let i = 0; i < 4; i++) tag += (ALPHABET[(digest[i] ?? 0) & 31] ?? '0').toLowerCase();
  return tag;
}

/** Two digits at a time: ids are made for every entry. */
const PAIRS = Array.from(
  { length: 1024 },
  (_, i) => `${ALPHABET[Math.floor(i / 32)] ?? ''}${ALPHABET[i % 32] ?? ''}`,
);

function base32(value: number, chars: number): string {
  let rest = Math.max(0, Math.floor(value));
  let text = '';
  for (let left = chars; left > 0; left -= 2) {
    const above = Math.floor(rest / 1024);
    const pair = PAIRS[rest - above * 1024] ?? '';
    text = (left === 1 ? pair.slice(1) : pair) + text;
    rest = above;
  }
  return text;
}

function fromBase32(digits: string | undefined): number | undefined {
  if (digits === undefined) return undefined;
  let value = 0;
  for (const digit of digits) value = value * 32 + ALPHABET.indexOf(digit);
  return Number.isSafeInteger(value) ? value : undefined;
}
