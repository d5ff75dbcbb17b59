import { z } from 'zod';

/** Between which bounds a field must lie, both included, where its schema says both. */
interface Range {
  least: number;
  most: number;
}

/** The range of what stands at a path: of a number itself, of a text or a list its length. */
export type Ranges = (path: readonly PropertyKey[]) => Range | undefined;

/** The ranges of a schema; apart from the words, which are also told where no schemas are loaded. */
export const rangesOf =
  (schema: z.core.$ZodType): Ranges =>
  (path) =>
    rangeOf(schema, path);

function rangeOf(schema: z.core.$ZodType, path: readonly PropertyKey[]): Range | undefined {
  const found = path.reduce<z.core.$ZodType | undefined>(schemaAt, schema);
  if (found === undefined) return undefined;
  const told = z.toJSONSchema(bare(found), { io: 'input', unrepresentable: 'any' });
  const least = told.minimum ?? told.minLength ?? told.minItems;
  const most = told.maximum ?? told.maxLength ?? told.maxItems;
  return isBound(least) && isBound(most) ? { least, most } : undefined;
}

function schemaAt(schema: z.core.$ZodType | undefined, name: PropertyKey): z.core.$ZodType | undefined {
  const found = schema && bare(schema);
  if (found instanceof z.ZodObject) return found.shape[String(name)];
  return found instanceof z.ZodArray ? found.element : undefined;
}

/** Without what makes it optional, gives it a default, or turns it into something else afterwards. */
function bare(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodPipe) return bare(schema.in);
  const isWrapped =
    schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault;
  return isWrapped ? bare(schema.unwrap()) : schema;
}

/** A whole number without a bound of its own has those of what can be counted exactly. */
function isBound(bound: number | undefined): bound is number {
  return bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER;
}
