import type { z } from 'zod';

import type { Ranges } from './range-of.ts';
import { hideSecrets } from './secrets.ts';

type Issue = z.core.$ZodIssue;

/** How the validator begins; where a schema has words of its own they stay. */
const VALIDATORS_OWN = /^(Invalid|Too (small|big)|Unrecognized|Expected)\b/;
const SHOWN = 40;
const NAMES = 12;

/**
 * What is wrong with a field, in the words of whoever sent it: what it must be, within which range, and what was given.
 * `input` is what was parsed, `ranges` those of its schema: with them both ends are named.
 */
export function issueWords(issue: Issue | undefined, input?: unknown, ranges?: Ranges): string {
  if (issue === undefined) return 'is not valid';
  if (issue.code === 'custom' || !VALIDATORS_OWN.test(issue.message)) return issue.message;
  const given = issue.path.reduce<unknown>(valueAt, input);
  const isSize = issue.code === 'too_small' || issue.code === 'too_big';
  const range = isSize ? ranges?.(issue.path) : undefined;
  if (isSize && range !== undefined) return sizeWords(issue.origin, `${range.least} to`, range.most, given);
  return wordsOf(issue, given, input !== undefined);
}

function wordsOf(issue: Issue, given: unknown, isKnown: boolean): string {
  switch (issue.code) {
    case 'invalid_type':
      return typeWords(issue.expected, given, isKnown);
    case 'too_small':
      return sizeWords(
        issue.origin,
        issue.inclusive === false ? 'more than' : 'at least',
        issue.minimum,
        given,
      );
    case 'too_big':
      return sizeWords(
        issue.origin,
        issue.inclusive === false ? 'less than' : 'at most',
        issue.maximum,
        given,
      );
    case 'invalid_value':
      return `must be ${oneOf(issue.values.map(String))}${said(given)}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}${said(given)}`;
    case 'unrecognized_keys':
      return `has no field ${issue.keys.map((key) => clip(key)).join(', ')}`;
    case 'invalid_format':
      return `must be ${FORMATS[issue.format] ?? 'written as its description says'}${said(given)}`;
    case 'invalid_union':
      return unionWords(issue, given, isKnown);
    case 'invalid_key':
    case 'invalid_element':
    case 'custom':
    default:
      return `is not as its description says${said(given)}`;
  }
}

const TYPES: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

const FORMATS: Record<string, string> = {
  datetime: 'a time as ISO 8601 has it, such as 2026-01-31T09:30:00Z',
  date: 'a day such as 2026-01-31',
  email: 'an e-mail address',
  url: 'a URL',
  uuid: 'a UUID',
  regex: 'written as its description says',
};

function typeWords(expected: string, given: unknown, isKnown: boolean): string {
  if (given === undefined && isKnown) return `is missing: it must be ${nameOfType(expected)}`;
  return `must be ${nameOfType(expected)}${isKnown ? `; ${kindOf(given)} was given` : ''}`;
}

function nameOfType(expected: string): string {
  return TYPES[expected] ?? expected;
}

function kindOf(given: unknown): string {
  if (given === null) return 'null';
  if (Array.isArray(given)) return 'a list';
  if (typeof given === 'number' && !Number.isInteger(given)) return String(given);
  return TYPES[typeof given] ?? typeof given;
}

function sizeWords(origin: string, bound: string, limit: number | bigint, given: unknown): string {
  const many = (what: string): string =>
    `${bound} ${limit} ${what}${BigInt(Math.trunc(Number(limit))) === 1n ? '' : 's'}`;
  if (origin === 'string') return `must have ${many('character')}${counted(given)}`;
  if (origin === 'array' || origin === 'set') return `must have ${many('item')}${counted(given)}`;
  if (origin === 'object' || origin === 'map') return `must have ${many('field')}`;
  return `must be ${bound} ${limit}${said(given)}`;
}

function counted(given: unknown): string {
  if (typeof given !== 'string' && !Array.isArray(given)) return '';
  return given.length === 0 ? '; it is empty' : `; it has ${given.length}`;
}

function said(given: unknown): string {
  if (typeof given === 'string') return `; ${JSON.stringify(clip(given))} was given`;
  return typeof given === 'number' || typeof given === 'boolean' ? `; ${given} was given` : '';
}

function unionWords(
  issue: Extract<Issue, { code: 'invalid_union' }>,
  given: unknown,
  isKnown: boolean,
): string {
  const forms = issue.errors.map(([first]) => first);
  const types = forms.flatMap((one) =>
    one?.code === 'invalid_type' && one.path.length === 0 ? [nameOfType(one.expected)] : [],
  );
  if (forms.length > 0 && types.length === forms.length) {
    if (given === undefined && isKnown) return `is missing: it must be ${listed(types)}`;
    return `must be ${listed(types)}${isKnown ? `; ${kindOf(given)} was given` : ''}`;
  }
  // It is of the right kind for one of the forms: what that form lacks is what is wrong.
  const nearest = forms.find(
    (one) => one !== undefined && (one.code !== 'invalid_type' || one.path.length > 0),
  );
  if (nearest === undefined) return 'fits none of the forms that it can have';
  const place = nearest.path.map(String).join('.');
  return `${place === '' ? '' : `${place}: `}${issueWords(nearest, given)}`;
}

function oneOf(values: readonly string[]): string {
  if (values.length === 1) return String(values[0]);
  const more = values.length - NAMES;
  return `one of ${values.slice(0, NAMES).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function listed(words: readonly string[]): string {
  const [last = '', ...others] = [...new Set(words)].toReversed();
  return others.length === 0 ? last : `${others.toReversed().join(', ')} or ${last}`;
}

function clip(text: string): string {
  const safe = hideSecrets(text);
  return safe.length > SHOWN ? `${safe.slice(0, SHOWN)}…` : safe;
}

function valueAt(value: unknown, name: PropertyKey): unknown {
  if (value === null || typeof value !== 'object' || !Object.hasOwn(value, name)) return undefined;
  return Object.entries(value).find(([key]) => key === String(name))?.[1];
}
