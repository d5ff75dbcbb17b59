import { ParleyError, fieldsOf } from '@parley/protocol';
import { type JSONPath, type ParseError, parse, printParseErrorCode } from 'jsonc-parser';

import { withoutValue, withValue } from './json-edit.ts';

/** A configuration file of another program as text: what is not ours keeps its comments, its order and its layout. */
export interface JsonText {
  readonly text: string;
  get(path: JSONPath): unknown;
  /** Puts a value there; with a number past the end of a list, at the end of it. */
  set(path: JSONPath, value: unknown): JsonText;
  /** Takes what is there away, and what would be left empty around it. */
  remove(path: JSONPath): JsonText;
}

const BOM = '\uFEFF';

/** Reads JSON with comments and trailing commas; an empty file is an empty object. */
export function readJsonText(text: string, file: string): JsonText {
  const mark = text.startsWith(BOM) ? BOM : '';
  const body = text.slice(mark.length);
  const errors: ParseError[] = [];
  const value: unknown = body.trim() === '' ? {} : parse(body, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error !== undefined || typeof value !== 'object' || value === null || Array.isArray(value)) {
    const line = body.slice(0, error?.offset ?? 0).split('\n').length;
    const why = error === undefined ? 'not an object' : `${printParseErrorCode(error.error)} in line ${line}`;
    throw new ParleyError('CONFLICT', `${file} cannot be read as JSON (${why}); it was left as it is`);
  }
  return {
    text,
    get: (path) => lookUp(value, path),
    set: (path, next) => readJsonText(mark + withValue(body.trim() === '' ? '{}\n' : body, path, next), file),
    remove(path) {
      if (lookUp(value, path) === undefined) return readJsonText(text, file);
      const parent = path.slice(0, -1);
      const isLast = parent.length > 0 && Object.keys(Object(lookUp(value, parent))).length === 1;
      return isLast ? this.remove(parent) : readJsonText(mark + withoutValue(body, path), file);
    },
  };
}

function lookUp(value: unknown, path: JSONPath): unknown {
  return path.reduce<unknown>((at, key) => {
    if (Array.isArray(at)) return typeof key === 'number' ? at[key] : undefined;
    return fieldsOf(at)[key];
  }, value);
}
