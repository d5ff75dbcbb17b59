import { ParleyError } from '@parley/protocol';
import {
  applyEdits,
  type FormattingOptions,
  type JSONPath,
  modify,
  type ParseError,
  parse,
  printParseErrorCode,
} from 'jsonc-parser';

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
  const edited = (path: JSONPath, next: unknown): JsonText => {
    const at = path.at(-1);
    const parent = at === undefined ? undefined : lookUp(value, path.slice(0, -1));
    const isArrayInsertion =
      next !== undefined && Array.isArray(parent) && typeof at === 'number' && at >= parent.length;
    const base = body.trim() === '' ? '{}\n' : body;
    const edits = modify(base, path, next, { formattingOptions: layoutOf(base), isArrayInsertion });
    return readJsonText(mark + applyEdits(base, edits), file);
  };
  return {
    text,
    get: (path) => lookUp(value, path),
    set: edited,
    remove(path) {
      if (lookUp(value, path) === undefined) return readJsonText(text, file);
      const parent = path.slice(0, -1);
      const isLast = parent.length > 0 && Object.keys(lookUp(value, parent) as object).length === 1;
      return isLast ? this.remove(parent) : edited(path, undefined);
    },
  };
}

function lookUp(value: unknown, path: JSONPath): unknown {
  return path.reduce<unknown>(
    (at, key) => (at === null || typeof at !== 'object' ? undefined : (at as Record<string, unknown>)[key]),
    value,
  );
}

/** The layout that a file has already: its line ends, and how deep its first line is set in. */
function layoutOf(text: string): FormattingOptions {
  const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
  return {
    eol: text.includes('\r\n') ? '\r\n' : '\n',
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 1 : indent.length,
  };
}
