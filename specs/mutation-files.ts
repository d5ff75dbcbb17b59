import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The files of a folder that patterns such as `packages/core/src/{a,b}.ts` or `packages/core/src/*.test.ts` name; one that names none is an error. */
export function filesOf(root: string, patterns: readonly string[]): string[] {
  return patterns.flatMap(alternatives).flatMap((pattern) => {
    const folder = dirname(pattern);
    const name = new RegExp(
      `^${pattern
        .slice(folder.length + 1)
        .replaceAll('.', '\\.')
        .replace('*', '.*')}$`,
    );
    const found = readdirSync(join(root, folder)).filter((file) => name.test(file));
    if (found.length === 0) throw new Error(`specs/mutation.json: ${pattern} names no file`);
    return found.map((file) => `${folder}/${file}`);
  });
}

function alternatives(pattern: string): string[] {
  const [, before = '', choice, after = ''] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(pattern) ?? [];
  return choice === undefined ? [pattern] : choice.split(',').map((one) => before + one + after);
}
