import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { openPlace, type Place, PROGRAM } from '../proxy/proxy-client.ts';
import { describeWith } from '../tools/describe-with.ts';
import { expectAllBut } from './expect-all-but.ts';
import { type Revision, runConformance } from './run-conformance.ts';
import { putBehindHttp } from './stdio-behind-http.ts';

const NO_PROMPTS = 'it has no prompts, and declares none';
const NO_RESOURCES = 'it has no resources, and declares none';
const NO_COMPLETIONS = 'it completes nothing, and declares no completions';
const NO_QUESTIONS =
  "only its sessions ask, in the answers to codex and codex-reply (tests/proxy/modern.test.ts); a child's own tool cannot";

const nothingOfTheKind = {
  'completion-complete': NO_COMPLETIONS,
  'prompts-get-simple': NO_PROMPTS,
  'prompts-get-with-args': NO_PROMPTS,
  'prompts-get-embedded-resource': NO_PROMPTS,
  'prompts-get-with-image': NO_PROMPTS,
  'resources-read-text': NO_RESOURCES,
  'resources-read-binary': NO_RESOURCES,
  'resources-templates-read': NO_RESOURCES,
};

/** Scored scenarios that do not apply to this server, and why; every other one passes. */
const NOT_FOR_IT: Record<Revision, Record<string, string>> = {
  '2025-11-25': {
    ...nothingOfTheKind,
    'resources-subscribe': NO_RESOURCES,
    'resources-unsubscribe': NO_RESOURCES,
  },
  '2026-07-28': {
    ...nothingOfTheKind,
    'prompts-list': NO_PROMPTS,
    'resources-list': NO_RESOURCES,
    'input-required-result-basic-elicitation': NO_QUESTIONS,
    'input-required-result-basic-sampling': NO_QUESTIONS,
    'input-required-result-basic-list-roots': NO_QUESTIONS,
    'input-required-result-request-state': NO_QUESTIONS,
    'input-required-result-multiple-input-requests': NO_QUESTIONS,
    'input-required-result-multi-round': NO_QUESTIONS,
    'input-required-result-non-tool-request': NO_PROMPTS,
    'input-required-result-result-type': NO_QUESTIONS,
    'input-required-result-tampered-state': NO_QUESTIONS,
    'input-required-result-capability-check': NO_QUESTIONS,
  },
};

/** Scenarios of which only some checks do not apply. */
const CHECKS_NOT_FOR_IT: Record<string, Record<string, string>> = {
  caching: {
    'sep-2549-prompts-list-caching-hints': NO_PROMPTS,
    'sep-2549-resources-list-caching-hints': NO_RESOURCES,
    'sep-2549-resources-templates-list-caching-hints': NO_RESOURCES,
  },
  'server-stateless': {
    'sep-2575-request-meta-invalid-missing-meta': 'on stdio such a request is one of an older revision',
    'sep-2575-request-meta-invalid-missing-protocol-version': 'the same',
    'sep-2575-http-server-meta-invalid-400': 'the same, over HTTP',
    'sep-2575-http-server-header-mismatch-400': 'stdio has no headers',
    'sep-2575-server-rejects-undeclared-capability': 'it has no tool that needs anything of its client',
    'sep-2575-missing-capability-http-400': 'the same, over HTTP',
  },
};

describeWith(['conformance', 'node22'], 'the official MCP conformance suite before atm-agent-mcp', () => {
  let place: Place;
  let server: Awaited<ReturnType<typeof putBehindHttp>>;

  beforeAll(async () => {
    place = openPlace();
    server = await putBehindHttp({
      command: process.execPath,
      args: (n) => [PROGRAM, 'serve', '--transport', 'mcp-server', '--identity', `suite-${n}`],
      cwd: place.work,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: place.home,
        ATM_HOME: place.home,
        CODEX_BIN: fileURLToPath(new URL('fixture-codex', import.meta.url)),
      },
    });
  });
  afterAll(async () => {
    await server.close();
    await place.remove();
  });

  test.each([
    ['2025-11-25', 30],
    ['2026-07-28', 37],
  ] as const)(
    'revision %s: of %i scored scenarios all pass that can be met without prompts and resources',
    { timeout: 300_000 },
    async (revision, count) => {
      const results = await runConformance({ url: server.url, revision, timeoutMs: 240_000 });
      const exceptions = { scenarios: NOT_FOR_IT[revision], checks: CHECKS_NOT_FOR_IT };
      expect(expectAllBut(results, exceptions)).toBe(count);
    },
  );
});
