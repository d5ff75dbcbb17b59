/** Builds the client that is published: one file of JavaScript, and types that stand on their own. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { CALL_FACTS, ERROR_CODES } from '@parley/protocol';
import { build } from 'esbuild';

import { createDeprecations } from '../packages/hub/src/deprecations.ts';
import { openApiDocument } from '../packages/hub/src/faces/v1/openapi/document.ts';
import { pascal } from '../packages/hub/src/faces/v1/openapi/errors.ts';
import { directImports } from './direct-imports.mjs';
import { typesOf } from './types-of-schemas.ts';
import { builtFiles, writeBuilt } from './write-built.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const out = join(root, 'clients/typescript/dist');

process.chdir(root);
const built = await build({
  absWorkingDir: root,
  entryPoints: ['packages/client/src/index.ts'],
  outfile: join(out, 'index.js'),
  plugins: [directImports()],
  bundle: true,
  platform: 'neutral',
  target: ['node20', 'chrome111', 'firefox115', 'safari16.4'],
  format: 'esm',
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
  write: false,
});
const types = { ...declarations(), 'protocol.d.ts': protocolTypes() };
const texts = Object.entries(types).map(([name, text]) => [name, Buffer.from(text)] as const);
writeBuilt(out, new Map([...builtFiles(out, built), ...texts]));

/** What the compiler says of the client's own modules, with the words of the wire beside them. */
function declarations(): Record<string, string> {
  const folder = mkdtempSync(join(root, '.cache', 'client-types-'));
  try {
    const config = join(folder, 'tsconfig.json');
    const compilerOptions = {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      // `npm run check` has checked it.
      noCheck: true,
      rootDir: join(root, 'packages'),
      outDir: folder,
    };
    const files = [join(root, 'packages/client/src/index.ts')];
    writeFileSync(
      config,
      JSON.stringify({ extends: '../../tsconfig.json', compilerOptions, include: [], files }),
    );
    execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', config], {
      stdio: 'inherit',
    });
    const made = join(folder, 'client/src');
    const own = (name: string): string =>
      readFileSync(join(made, name), 'utf8')
        .replaceAll("'@parley/protocol'", "'./protocol.js'")
        .replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'");
    return Object.fromEntries(readdirSync(made).map((name) => [name, own(name)]));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The words of the wire as types, made from the schemas that check the calls. */
function protocolTypes(): string {
  const { components } = openApiDocument('0', 'http://127.0.0.1', createDeprecations([])) as {
    components: { schemas: Record<string, Record<string, unknown>> };
  };
  const operations = Object.keys(CALL_FACTS).map(
    (name) => `  ${name}: { input: ${pascal(name)}Input; output: ${pascal(name)}Result };\n`,
  );
  return `${typesOf(components.schemas)}
/** Everything the hub can do: what it takes and what it answers. */
export interface Operations {
${operations.join('')}}
export type OperationName = keyof Operations;
export type InputOf<N extends OperationName> = Operations[N]['input'];
export type OutputOf<N extends OperationName> = Operations[N]['output'];
export type AskVerdict = NonNullable<Ask['verdict']>;
export type Role = WhoamiResult['role'];
export type ErrorCode = ${ERROR_CODES.map((code) => `'${code}'`).join(' | ')};
export type ErrorDetails = Record<string, unknown>;

/** What went wrong, by code. */
export declare class ParleyError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails | undefined;
  constructor(code: ErrorCode, message: string, details?: ErrorDetails);
}

/** Everything that a paged list holds, over as many pages as that takes, or the first \`most\` of it. */
export declare function readAll<P extends { next_after: string | null }, T>(
  page: (place: { limit: number; after?: string }) => Promise<P>,
  itemsOf: (page: P) => readonly T[],
  most?: number,
): Promise<T[]>;
`;
}
