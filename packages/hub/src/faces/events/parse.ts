import { ParleyError, issueWords } from '@parley/protocol';
import type { z } from 'zod';

/** The value a schema makes of what was sent; a refusal names the field as it was sent. */
export function parse<S extends z.ZodType>(schema: S, raw: unknown): z.output<S> {
  const parsed = schema.safeParse(raw);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.slice(0, 10).map((issue) => ({
    field: issue.path.map(String).join('.') || 'event',
    message: issueWords(issue, raw),
  }));
  const { field, message } = issues[0] ?? { field: 'event', message: 'does not fit' };
  throw new ParleyError('VALIDATION_ERROR', `${field}: ${message}`, { field, issues });
}
