import { CONTRACTS } from '@parley/protocol';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';

import { createDeprecations } from '../../../deprecations.ts';
import { openApiDocument } from './document.ts';

test('[HUB-V1] the description of /v1 is valid OpenAPI 3.1 and names every operation', async () => {
  const document = openApiDocument('1.2.3', 'http://127.0.0.1:8620', createDeprecations([]));
  const validator = new Validator();
  const { valid, errors } = await validator.validate(document);
  expect(errors).toBeUndefined();
  expect(valid).toBe(true);
  expect(validator.version).toBe('3.1');
  expect(Object.keys(document['paths'] as object)).toEqual(
    expect.arrayContaining(Object.keys(CONTRACTS).map((name) => `/v1/${name}`)),
  );
});

test('a description with a wrong part is found out', async () => {
  const document = {
    ...openApiDocument('1.2.3', 'http://127.0.0.1:8620', createDeprecations([])),
    paths: { '/v1/x': { post: { responses: 5 } } },
  };
  expect((await new Validator().validate(document)).valid).toBe(false);
});
