import { invalid } from '../draft.ts';

type Fields = Record<string, unknown>;

/** The part of a document that a patch can change. */
export interface Patchable {
  content: { mime_type: string; body: string };
  metadata: Fields;
  is_human_readable: boolean;
}

/** Where a path of the mask leads. */
const PATHS = /^(content|content\.(?:mime_type|body)|metadata|metadata\.([^.]+)|is_human_readable)$/;

/** Names that mean something to JavaScript itself. */
const UNSAFE = new Set(['__proto__', 'constructor', 'prototype']);

/** A document after a JSON Merge Patch of which only the masked fields count; what is left may still be no document. */
export function mergeUnderMask(before: Patchable, patch: Fields, mask: readonly string[]): Fields {
  const after: Fields = structuredClone({ ...before });
  for (const path of mask) {
    const [, , key] = PATHS.exec(path) ?? invalidPath(path);
    if (key !== undefined && UNSAFE.has(key)) invalidPath(path);
    const [head = '', field] = path.split('.');
    if (field === undefined) {
      setOrRemove(after, head, merge(after[head], own(patch, head)));
      continue;
    }
    const inner = own(patch, head);
    const said = isObject(inner) ? own(inner, field) : undefined;
    if (inner !== undefined && inner !== null && !isObject(inner))
      throw invalid(`patch.${head}`, `patch.${head}: must be an object`);
    // The mask's pattern lets only the parts through that are objects in every document.
    const target = after[head] as Fields;
    setOrRemove(target, field, merge(own(target, field), said));
  }
  return after;
}

/** RFC 7396, with undefined for what is removed. */
function merge(target: unknown, patch: unknown): unknown {
  if (patch === undefined || patch === null) return undefined;
  if (!isObject(patch)) return patch;
  const merged: Fields = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (UNSAFE.has(key)) throw invalid('patch', `patch: the name ${key} is not allowed`);
    setOrRemove(merged, key, merge(own(merged, key), value));
  }
  return merged;
}

function setOrRemove(target: Fields, key: string, value: unknown): void {
  if (value === undefined) delete target[key];
  else target[key] = value;
}

function own(target: Fields, key: string): unknown {
  return Object.hasOwn(target, key) ? target[key] : undefined;
}

function isObject(value: unknown): value is Fields {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

function invalidPath(path: string): never {
  throw invalid(
    'update_mask',
    `update_mask: ${JSON.stringify(path.slice(0, 64))} is no field; name content, content.body, content.mime_type, metadata, metadata.<name> or is_human_readable`,
  );
}
