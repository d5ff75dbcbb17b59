import { expect, test } from 'vitest';

import { useHub } from '../harness/use-hub.ts';
import { describeWith } from '../tools/describe-with.ts';
import { type Exceptions, expectAllBut } from './expect-all-but.ts';
import { type Revision, runConformance } from './run-conformance.ts';

const NO_PROMPTS = 'it has no prompts, and declares none';
const NO_COMPLETIONS = 'it completes nothing, and declares no completions';
const NO_LOGGING = 'it sends no log messages, and declares no logging';
const OWN_RESOURCES = 'its resources are threads; what the suite reads does not exist';
const OWN_TOOLS = 'its tools are the operations of the hub; the one that the suite calls is none';
const NO_QUESTIONS = 'no operation asks its caller in the midst of a call';

const inBoth = {
  'completion-complete': NO_COMPLETIONS,
  'prompts-list': NO_PROMPTS,
  'prompts-get-simple': NO_PROMPTS,
  'prompts-get-with-args': NO_PROMPTS,
  'prompts-get-embedded-resource': NO_PROMPTS,
  'prompts-get-with-image': NO_PROMPTS,
  'resources-read-text': OWN_RESOURCES,
  'resources-read-binary': OWN_RESOURCES,
  'resources-templates-read': OWN_RESOURCES,
  'tools-call-simple-text': OWN_TOOLS,
  'tools-call-image': OWN_TOOLS,
  'tools-call-audio': OWN_TOOLS,
  'tools-call-embedded-resource': OWN_TOOLS,
  'tools-call-mixed-content': OWN_TOOLS,
  'tools-call-error': OWN_TOOLS,
  'tools-call-with-progress': OWN_TOOLS,
};

/** Scored scenarios that do not apply to the hub, and why; every other one passes. */
const NOT_FOR_IT: Record<Revision, Exceptions> = {
  '2025-11-25': {
    scenarios: {
      ...inBoth,
      'logging-set-level': NO_LOGGING,
      'tools-call-with-logging': NO_LOGGING,
      'resources-subscribe': OWN_RESOURCES,
      'resources-unsubscribe': OWN_RESOURCES,
      'tools-call-sampling': NO_QUESTIONS,
      'tools-call-elicitation': NO_QUESTIONS,
      'elicitation-sep1034-defaults': NO_QUESTIONS,
      'elicitation-sep1330-enums': NO_QUESTIONS,
    },
    checks: {},
  },
  '2026-07-28': {
    scenarios: {
      ...inBoth,
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
    checks: {
      caching: { 'sep-2549-prompts-list-caching-hints': NO_PROMPTS },
      'server-stateless': {
        'sep-2575-server-rejects-undeclared-capability': 'no operation needs anything of its client',
        'sep-2575-missing-capability-http-400': 'the same, over HTTP',
        'sep-2575-http-server-no-independent-requests-on-stream': NO_QUESTIONS,
        'sep-2575-server-no-log-without-loglevel': NO_LOGGING,
      },
    },
  },
};

describeWith(['conformance', 'node22'], 'the official MCP conformance suite before the hub as it is', () => {
  const scene = useHub();

  test.each([
    ['2025-11-25', 30],
    ['2026-07-28', 37],
  ] as const)(
    '[C-MCP-02] revision %s: of %i scored scenarios all pass that need neither prompts nor tools of the suite',
    { timeout: 120_000 },
    async (revision, count) => {
      const { token } = scene.as('suite');
      const results = await runConformance({ url: `${scene.hub.url}/mcp`, revision, token });
      expect(expectAllBut(results, NOT_FOR_IT[revision])).toBe(count);
    },
  );
});
