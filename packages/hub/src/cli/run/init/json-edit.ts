import { findNodeAtLocation, type JSONPath, type Node, parseTree } from 'jsonc-parser';

/** What stands between two things on one line, and what may stand between any two: blanks and comments. */
const BESIDE = /(?:[ \t]|\/\*[^\n]*?\*\/)*(?:\/\/[^\r\n]*)?/y;
const BETWEEN = /(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*/y;

/** Puts a value into JSON with comments; no other character changes but a comma. */
export function withValue(text: string, path: JSONPath, value: unknown): string {
  let node = treeOf(text);
  let depth = 0;
  for (; depth < path.length; depth++) {
    const next = findNodeAtLocation(node, path.slice(depth, depth + 1));
    if (next === undefined) break;
    node = next;
  }
  const [key, ...below] = path.slice(depth);
  const inner = below.reduceRight((within: unknown, name) => ({ [name]: within }), value);
  if (key !== undefined && (node.type === 'object' || node.type === 'array'))
    return inserted(text, node, key, inner);
  const whole = key === undefined ? value : { [key]: inner };
  const written = lines(text, whole, indentAt(text, node.offset));
  return text.slice(0, node.offset) + written + text.slice(endOf(node));
}

/** Takes a value out again, with its line where it has one of its own. */
export function withoutValue(text: string, path: JSONPath): string {
  const value = findNodeAtLocation(treeOf(text), path);
  if (value?.parent === undefined) return text;
  const item = value.parent.type === 'property' ? value.parent : value;
  const siblings = item.parent?.children ?? [];
  const before = siblings[siblings.indexOf(item) - 1];
  const next = siblings[siblings.indexOf(item) + 1];
  const comma = commaAfter(text, endOf(item));
  const end = comma === undefined ? endOf(item) : comma + 1;
  // The last of them leaves no comma behind where there was none.
  const needless = before !== undefined && comma === undefined ? commaAfter(text, endOf(before)) : undefined;
  const head = (to: number): string =>
    needless === undefined ? text.slice(0, to) : text.slice(0, needless) + text.slice(needless + 1, to);
  const start = item.offset - indentBefore(text, item.offset);
  const isOwnLine = start === 0 || text[start - 1] === '\n';
  const lineEnd = /[ \t]*\r?\n/y;
  lineEnd.lastIndex = end;
  if (isOwnLine && lineEnd.test(text)) return head(start) + text.slice(lineEnd.lastIndex);
  if (isOwnLine && next === undefined) return head(start).replace(/\r?\n$/, '') + text.slice(end);
  if (next !== undefined) return text.slice(0, item.offset) + text.slice(next.offset);
  return head(before === undefined ? item.offset : start) + text.slice(end);
}

function inserted(text: string, container: Node, key: string | number, value: unknown): string {
  const last = container.children?.at(-1);
  const close = endOf(container) - 1;
  const isLong = text.slice(container.offset, close).includes('\n');
  const outer = indentAt(text, container.offset);
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const name = (space: string): string => (typeof key === 'number' ? '' : `${JSON.stringify(key)}:${space}`);
  if (!isLong && (last !== undefined || !text.trim().includes('\n'))) {
    const isRoot = container.parent === undefined && last === undefined;
    const space = /[:,] /.test(text.slice(container.offset, close)) ? ' ' : '';
    const item = `${name(space)}${JSON.stringify(value)}`;
    const at = last === undefined ? container.offset + 1 : endOf(last);
    if (!isRoot)
      return `${text.slice(0, at)}${last === undefined ? '' : `,${space}`}${item}${text.slice(at)}`;
  }
  const isIndented = last !== undefined && startsLine(text, last.offset);
  const indent = isIndented ? indentAt(text, last.offset) : outer + unitOf(text);
  const item = `${indent}${name(' ')}${lines(text, value, indent)}`;
  if (last === undefined) {
    // Comments that stand there alone stay above.
    const rest = text.slice(container.offset + 1, close).trimEnd();
    return `${text.slice(0, container.offset + 1)}${rest}${eol}${item}${eol}${outer}${text.slice(close)}`;
  }
  const comma = commaAfter(text, endOf(last));
  const at = skip(text, BESIDE, comma === undefined ? endOf(last) : comma + 1);
  const head =
    comma === undefined ? `${text.slice(0, endOf(last))},${text.slice(endOf(last), at)}` : text.slice(0, at);
  return `${head}${eol}${item}${comma === undefined ? '' : ','}${text.slice(at)}`;
}

function treeOf(text: string): Node {
  const tree = parseTree(text, [], { allowTrailingComma: true });
  if (tree === undefined) throw new Error('there is nothing to change');
  return tree;
}

const endOf = ({ offset, length }: Node): number => offset + length;

function skip(text: string, what: RegExp, at: number): number {
  what.lastIndex = at;
  what.test(text);
  return Math.max(at, what.lastIndex);
}

function commaAfter(text: string, at: number): number | undefined {
  const next = skip(text, BETWEEN, at);
  return text[next] === ',' ? next : undefined;
}

function indentBefore(text: string, at: number): number {
  return /[ \t]*$/.exec(text.slice(0, at))?.[0].length ?? 0;
}

function startsLine(text: string, at: number): boolean {
  const start = at - indentBefore(text, at);
  return start > 0 && text[start - 1] === '\n';
}

/** How deep the line is set in on which this stands. */
function indentAt(text: string, at: number): string {
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', at - 1) + 1))?.[0] ?? '';
}

/** How deep the first line of the file is set in. */
function unitOf(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
}

function lines(text: string, value: unknown, indent: string): string {
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  return JSON.stringify(value, null, unitOf(text)).replaceAll('\n', eol + indent);
}
