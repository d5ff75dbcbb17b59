import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { send } from '../harness/send.ts';
import { useHub } from '../harness/use-hub.ts';
import { describeWith } from '../tools/describe-with.ts';
import { HEY_API_ROUND, OPENAPI_FETCH_ROUND } from './generated/rounds.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'parley-generated-'));
const scene = useHub();

/** What each round sees: a wrong call is stopped by the client, and what the hub gives passes through it. */
const SEEN = ['function', 'a zebra', true, 'a', 'stripes', 1, 'NOT_FOUND'];

/** Generators and compilers, on a busy machine. */
const SLOW = 240_000;

/** What has a default may be left out: openapi-typescript says otherwise unless it is told. */
const OPTIONAL = ['--default-non-nullable', 'false'];

/** Waited for aside: connections to the hub go on meanwhile. */
const run = async (command: string, ...args: string[]): Promise<string> =>
  (await promisify(execFile)(command, args, { cwd: folder, env: environment() })).stdout;

function environment(): Record<string, string> {
  const { token } = scene.as('generated', { role: 'orchestrator' });
  const named = { PARLEY_URL: scene.hub.url, PARLEY_TOKEN: token, PARLEY_DOCUMENT: randomUUID() };
  return { PATH: process.env['PATH'] ?? '', HOME: folder, ...named };
}

/** Compiles a program strictly beside what was generated, and runs it. */
async function compileAndRun(name: string, program: string, ...more: string[]): Promise<unknown> {
  writeFileSync(join(folder, `${name}.ts`), program);
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  // Whatever was generated is no library.
  const strict = ['--strict', '--noUncheckedIndexedAccess', '--skipLibCheck', ...more];
  const types = [
    '--lib',
    'es2023,dom,dom.iterable',
    '--types',
    'node',
    '--typeRoots',
    join(root, 'node_modules/@types'),
  ];
  try {
    await run(
      process.execPath,
      tsc,
      `${name}.ts`,
      '--outDir',
      'out',
      '--target',
      'es2022',
      ...strict,
      ...types,
    );
  } catch (error) {
    throw new Error(`it does not compile:\n${(error as { stdout: string }).stdout}`, { cause: error });
  }
  return JSON.parse(await run(process.execPath, `out/${name}.js`));
}

beforeAll(async () => {
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  writeFileSync(join(folder, 'openapi.json'), (await send(`${scene.hub.url}/v1/openapi.json`)).text);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Lets programs of the folder find one package of the tools. */
function link(packages: string, name: string): void {
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  symlinkSync(join(packages, name), join(folder, 'node_modules', name));
}

describeWith(['openapi-typescript', 'openapi-fetch'], 'openapi-typescript', (tools) => {
  test(
    'its types compile strictly, and a caller goes its round',
    async () => {
      link(join(tools['openapi-fetch'], '..'), 'openapi-fetch');
      await run(
        process.execPath,
        tools['openapi-typescript'],
        'openapi.json',
        '-o',
        'schema.ts',
        ...OPTIONAL,
      );
      const exact = '--exactOptionalPropertyTypes';
      const seen = await compileAndRun(
        'openapi-fetch-round',
        OPENAPI_FETCH_ROUND,
        exact,
        '--module',
        'nodenext',
      );
      expect(seen).toEqual(SEEN);
    },
    SLOW,
  );
});

describeWith(['hey-api', 'zod'], 'hey-api with zod', (tools) => {
  test(
    'its client compiles strictly, and a caller goes its round with every answer checked',
    async () => {
      link(join(tools.zod, '..'), 'zod');
      const plugins = ['@hey-api/client-fetch', 'zod', { name: '@hey-api/sdk', validator: true }];
      const output = { path: 'hey', tsConfigPath: 'off', importFileExtension: '.js' };
      const config = JSON.stringify({ input: 'openapi.json', output, plugins });
      writeFileSync(join(folder, 'openapi-ts.config.mjs'), `export default ${config};`);
      await run(process.execPath, tools['hey-api'], '-f', 'openapi-ts.config.mjs');
      expect(await compileAndRun('hey-api-round', HEY_API_ROUND, '--module', 'nodenext')).toEqual(SEEN);
    },
    SLOW,
  );
});

describeWith(['quicktype', 'python'], 'quicktype for Python', ({ quicktype, python }) => {
  test(
    'its classes are good Python without any package, and a caller goes its round through them',
    async () => {
      const operations =
        'CreateThread PostMessage ReadMessages AckRead RaiseAsk CreateDocument GetDocument SearchMessages GetThread';
      const names = operations.split(' ').flatMap((name) => [`${name}Input`, `${name}Result`]);
      const writer = join(here, 'generated/quicktype.mjs');
      await run(process.execPath, writer, quicktype, 'openapi.json', 'models.py', ...names, 'NotFoundError');
      copyFileSync(join(here, 'generated/models_round.py'), join(folder, 'models_round.py'));
      // -S: nothing that somebody has installed beside Python.
      expect(JSON.parse(await run(python, '-S', 'models_round.py'))).toEqual(SEEN);
    },
    SLOW,
  );
});
