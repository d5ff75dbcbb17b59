import { ParleyError } from './errors.ts';

/** Bounds of one JSON document, checked while it is read and before any of it is used. */
export interface JsonLimits {
  depth: number;
  /** Keys and array items together. */
  items: number;
  /** Lets numbers pass that a double does not hold exactly, for wires whose ids and payloads are not ours. */
  anyNumber?: boolean;
}

export const DEFAULT_JSON_LIMITS: JsonLimits = { depth: 64, items: 20_000 };

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/**
 * Decodes JSON as strictly as the log needs it: valid UTF-8, no repeated or `__proto__` key, bounded depth,
 * no NUL, no lone surrogate, no number that would lose digits.
 */
export function decodeJson(bytes: Uint8Array | string, limits: JsonLimits = DEFAULT_JSON_LIMITS): unknown {
  const text = typeof bytes === 'string' ? wellFormed(bytes) : decodeUtf8(bytes);
  new Scanner(text, limits).scan();
  try {
    return JSON.parse(text);
  } catch {
    throw invalid('the JSON is malformed');
  }
}

/** One text per value whatever its key order, so that equal payloads have equal fingerprints. */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object')
    return value === undefined ? 'null' : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  // What is neither null nor a list nor plain is an object.
  const record = value as Record<string, unknown>;
  let text = '';
  for (const key of Object.keys(record).toSorted()) {
    const item = record[key];
    if (item === undefined) continue;
    text += `${text === '' ? '' : ','}${NAME.test(key) ? `"${key}"` : JSON.stringify(key)}:${canonicalJson(item)}`;
  }
  return `{${text}}`;
}

/** Keys that need no escapes; most are such. */
const NAME = /^\w+$/;

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw invalid('the body is not valid UTF-8');
  }
}

function wellFormed(text: string): string {
  if (isIllFormed(text)) throw invalid('the text holds a lone surrogate');
  return text;
}

/** True when a string holds half of a surrogate pair, which no UTF-8 store can keep. */
export function isIllFormed(text: string): boolean {
  return !text.isWellFormed();
}

function invalid(message: string): ParleyError {
  return new ParleyError('VALIDATION_ERROR', message);
}

const QUOTE = 0x22;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const COLON = 0x3a;
const COMMA = 0x2c;

/** One pass over the text for what JSON.parse lets through; grammar itself stays JSON.parse's business. */
class Scanner {
  readonly #text: string;
  readonly #limits: JsonLimits;
  /** The keys of each open object; undefined stands for an open array. */
  readonly #open: (Set<string> | undefined)[] = [];
  #at = 0;
  /** The next backslash at or after the place it was last looked for. */
  #backslash = -1;
  #items = 0;

  constructor(text: string, limits: JsonLimits) {
    this.#text = text;
    this.#limits = limits;
  }

  scan(): void {
    const { length } = this.#text;
    let expectKey = false;
    while (this.#at < length) {
      const c = this.#text.charCodeAt(this.#at);
      if (c === QUOTE) {
        const raw = this.#string();
        if (expectKey) this.#key(raw);
        expectKey = false;
      } else if (c === OPEN_OBJECT || c === OPEN_ARRAY) {
        this.#push(c === OPEN_OBJECT ? new Set() : undefined);
        expectKey = c === OPEN_OBJECT;
      } else if (c === CLOSE_OBJECT || c === CLOSE_ARRAY) {
        this.#open.pop();
        this.#at++;
        expectKey = false;
      } else if (c === COMMA) {
        expectKey = this.#open.at(-1) !== undefined;
        if (!expectKey) this.#count();
        this.#at++;
      } else if (c === COLON) {
        this.#at++;
      } else if (c === 0x2d || (c >= 0x30 && c <= 0x39)) {
        this.#number();
      } else {
        this.#at++;
      }
    }
  }

  #push(keys: Set<string> | undefined): void {
    if (this.#open.length >= this.#limits.depth) {
      throw invalid(`the JSON is nested deeper than ${this.#limits.depth}`);
    }
    // A list counts once for its first item; each comma then counts for the next.
    if (keys === undefined) this.#count();
    this.#open.push(keys);
    this.#at++;
  }

  #count(): void {
    if (++this.#items > this.#limits.items)
      throw invalid(`the JSON has more than ${this.#limits.items} keys and array items`);
  }

  #key(raw: string): void {
    const key = raw.includes('\\') ? this.#unescape(raw) : raw;
    if (key === '__proto__') throw invalid('the key "__proto__" is not allowed');
    this.#count();
    const keys = this.#open.at(-1);
    if (keys === undefined) return;
    if (keys.has(key)) throw invalid(`the key ${JSON.stringify(key.slice(0, 64))} stands twice`);
    keys.add(key);
  }

  #unescape(raw: string): string {
    try {
      // What stands between quotes is a text.
      return JSON.parse(`"${raw}"`) as string;
    } catch {
      throw invalid('the JSON is malformed');
    }
  }

  /** Plain strings are jumped over; only those with a backslash are looked at closely. */
  #string(): string {
    const start = ++this.#at;
    const text = this.#text;
    let quote = -1;
    for (;;) {
      // Neither is looked for again before it is passed, or a string of escapes would cost its square.
      if (quote < this.#at) quote = text.indexOf('"', this.#at);
      if (quote < 0) throw invalid('the JSON is malformed');
      if (this.#backslash < this.#at) this.#backslash = nextOf(text, '\\', this.#at);
      if (quote < this.#backslash) {
        this.#at = quote + 1;
        return text.slice(start, quote);
      }
      this.#at = this.#backslash;
      this.#escape();
    }
  }

  #escape(): void {
    if (this.#text.charCodeAt(this.#at + 1) !== 0x75) {
      this.#at += 2;
      return;
    }
    const unit = this.#unit(this.#at);
    if (unit === 0) throw invalid('the text holds a NUL character');
    this.#at += 6;
    if (unit >= 0xdc00 && unit <= 0xdfff) throw invalid('the text holds a lone surrogate');
    if (unit < 0xd800 || unit > 0xdbff) return;
    const low = this.#text.startsWith('\\u', this.#at) ? this.#unit(this.#at) : 0;
    if (low < 0xdc00 || low > 0xdfff) throw invalid('the text holds a lone surrogate');
    this.#at += 6;
  }

  #unit(at: number): number {
    let unit = 0;
    for (let i = at + 2; i < at + 6; i++) unit = unit * 16 + hexDigit(this.#text.charCodeAt(i));
    if (Number.isNaN(unit)) throw invalid('the JSON is malformed');
    return unit;
  }

  #number(): void {
    const start = this.#at;
    let c = this.#text.charCodeAt(this.#at);
    while ((c >= 0x30 && c <= 0x39) || c === 0x2b || c === 0x2d || c === 0x2e || c === 0x45 || c === 0x65) {
      c = this.#text.charCodeAt(++this.#at);
    }
    const value = Number(this.#text.slice(start, this.#at));
    if (!Number.isFinite(value)) throw invalid('a number is out of range');
    if (this.#limits.anyNumber !== true && Number.isInteger(value) && !Number.isSafeInteger(value)) {
      throw invalid('a number is too large to be kept exactly; send it as a string');
    }
  }
}

function hexDigit(c: number): number {
  if (c >= 0x30 && c <= 0x39) return c - 0x30;
  const lower = c | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : Number.NaN;
}

function nextOf(text: string, part: string, from: number): number {
  const at = text.indexOf(part, from);
  return at < 0 ? text.length : at;
}
