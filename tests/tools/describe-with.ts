import { describe, test } from 'vitest';
import { inCi } from '../../specs/in-ci.ts';
import { requireTool, tool, type ToolName } from './tools.ts';

/** A `describe` that needs tools: where one is missing it is skipped with the reason in its name, except in CI, where that is a failure. */
export function describeWith<Name extends ToolName>(
  names: readonly Name[],
  title: string,
  body: (paths: Record<Name, string>) => void,
): void {
  const reasons = names.flatMap((name) => {
    const found = tool(name);
    return typeof found === 'string' ? [] : [`${name}: ${found.missing}`];
  });
  if (reasons.length === 0) {
    const paths = Object.fromEntries(names.map((name) => [name, requireTool(name)]));
    describe(title, () => body(paths as Record<Name, string>));
    return;
  }
  const reason = reasons.join('; ');
  if (inCi()) throw new Error(`${title} cannot run: ${reason}`);
  test.skip(`${title} (skipped, ${reason})`, () => undefined);
}
