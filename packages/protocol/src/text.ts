import * as z from 'zod';

import { RESERVED_NAMES } from './hub-name.ts';
import { isIllFormed } from './json.ts';
import { NAME_PATTERN } from './name.ts';

const encoder = new TextEncoder();

/** True when every part of a value can be kept exactly by every store: well-formed text without NUL. */
export function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('\0') && !isIllFormed(value);
  if (Array.isArray(value)) return value.every(isStorable);
  if (value !== null && typeof value === 'object') {
    return Object.entries(value).every(
      ([key, item]) => key !== '__proto__' && isStorable(key) && isStorable(item),
    );
  }
  return true;
}

/** True when a text has at most so many bytes in UTF-8; it is encoded only where its length leaves that open. */
function fits(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return false;
  return text.length * 3 <= maxBytes || encoder.encode(text).length <= maxBytes;
}

/** Text with a bound in UTF-8 bytes that any store returns byte for byte. */
export function storableText(options: { min?: number; maxBytes: number }): z.ZodString {
  const { min = 1, maxBytes } = options;
  return z
    .string()
    .min(min)
    .refine((text) => fits(text, maxBytes), { error: `is longer than ${maxBytes} bytes`, abort: true })
    .refine(isStorable, { error: 'holds a NUL character or a lone surrogate' })
    .meta({ 'x-max-bytes': maxBytes });
}

/** A free-form JSON object that is kept as it was sent. */
export function storableObject(maxBytes: number) {
  return z
    .record(z.string(), z.unknown())
    .refine((value) => fits(JSON.stringify(value), maxBytes) && isStorable(value), {
      error: `must be at most ${maxBytes} bytes of JSON without NUL or lone surrogates`,
    });
}

/** Names of agents, workspaces, sessions: never a flag, a path or a shell word. */
export const Name = z.string().regex(NAME_PATTERN, {
  error: 'must be 1 to 128 of A-Z a-z 0-9 . _ : @ - and start with a letter or digit',
});

/** A name that an agent may bear. */
export const AgentName = Name.refine((name) => !RESERVED_NAMES.includes(name.toLowerCase()), {
  error: `must not be one of ${RESERVED_NAMES.join(', ')}, which mean the hub and everybody`,
});
