import * as z from 'zod';

/** How MCP clients may treat a tool; without these hints Codex refuses to call it. */
export interface Annotations {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

export const READS: Annotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};
export const WRITES: Annotations = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** The resource-style route beside `POST /v1/<name>`; `{fields}` come from the path, the rest from the query. */
export interface HttpRoute {
  method: 'GET';
  path: string;
}

/** Which of its caller's quotas a call is counted against; each kind has its own. */
export type Cost = 'message' | 'write' | 'search';

/** What the world knows of one operation: its name, its words, its schemas. */
export interface Contract<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType> {
  name: string;
  version: string;
  title: string;
  description: string;
  input: I;
  output: O;
  annotations: Annotations;
  http?: HttpRoute;
  /** In the short tool list that every agent pays for with its context. */
  essential: boolean;
  /** Fields that the short list leaves out: lists on a screen are narrowed by them, and every caller may. */
  unlisted?: readonly string[];
  /** What it is counted as; a change without it is a write, and looking is free. */
  cost?: Cost;
  /** A decision depends on every word of it: an unknown field is refused. Elsewhere it is ignored and told. */
  strict?: true;
  /**
   * What those who watch the agents of a workspace see of it once it is done: that one may be in another state, or
   * besides what it says of itself.
   */
  shows?: 'state' | 'status' | 'event';
  /** Its input holds whole documents: a larger body is taken where the wire knows the operation before it reads. */
  holdsDocuments?: true;
}

/** What a call is counted as, if anything. */
export function costOf({ cost, annotations }: Contract): Cost | undefined {
  return cost ?? (annotations.readOnlyHint ? undefined : 'write');
}

const Warnings = z.array(z.string()).optional().describe('fields of the input that are not known here');

/** Keeps the exact schema types of a contract while checking its shape; every answer may bring warnings. */
export function contract<I extends z.ZodType, O extends z.ZodRawShape>(
  definition: Contract<I, z.ZodObject<O>>,
): Contract<I, z.ZodObject<O & { warnings: typeof Warnings }>> {
  return { ...definition, output: z.object({ ...definition.output.shape, warnings: Warnings }) };
}
