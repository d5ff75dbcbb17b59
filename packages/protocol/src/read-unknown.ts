/** True for a value with fields: neither null nor a list. */
export function isFields(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** The fields of a value that nobody vouches for; none where it has no fields. */
export function fieldsOf(value: unknown): Record<string, unknown> {
  return isFields(value) ? value : {};
}

/** True for one of a list of words. */
export function isOneOf<T>(words: readonly T[], word: unknown): word is T {
  return words.some((one) => one === word);
}

/** What a thrown value says. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The code of a thrown value, such as ENOENT; undefined where it has none. */
export function errorCode(error: unknown): string | undefined {
  const { code } = fieldsOf(error);
  return typeof code === 'string' ? code : undefined;
}

/** The status of HTTP that a thrown value has; undefined where it is no answer. */
export function errorStatus(error: unknown): number | undefined {
  const { status } = fieldsOf(error);
  return typeof status === 'number' ? status : undefined;
}

/** A thrown value as an error, which it nearly always is. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}

/** Why a signal was given, as it can be thrown. */
export function abortReason({ reason }: AbortSignal): Error {
  return asError(reason);
}

/** The names in a table of this program's own, which has no others. */
export function keysOf<T extends object>(table: T): (keyof T & string)[] {
  // The compiler allows for more than the type names; a table written out in the source has no more.
  return Object.keys(table) as (keyof T & string)[];
}

/** The lines of a table of this program's own, which has no others. */
export function entriesOf<T extends object>(table: T): [keyof T & string, T[keyof T]][] {
  // As with its names.
  return Object.entries(table) as [keyof T & string, T[keyof T]][];
}

/** A table with one line for each name. */
export function tableOf<K extends string, V>(names: readonly K[], lineOf: (name: K) => V): Record<K, V> {
  // Each name got its line just now.
  return Object.fromEntries(names.map((name) => [name, lineOf(name)])) as Record<K, V>;
}
