import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, test } from 'vitest';

import { send } from '../harness/send.ts';
import { useHub } from '../harness/use-hub.ts';
import { bad, envelopeOf, good, sendEnvelope } from '../knowledge/envelope-client.ts';

const scene = useHub();

test('the envelope itself has a JSON Schema, which takes what the hub takes and refuses what it refuses', async () => {
  const { url } = scene.hub;
  const { token } = scene.as('ed', { role: 'orchestrator' });
  const { status, text } = await send(`${url}/schemas/mcp/envelope.json`);
  expect(status).toBe(200);
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  const fits = ajv.compile(JSON.parse(text) as object);
  const plain = envelopeOf('registry.list', {});
  const names = Object.keys(plain);
  expect(names).toHaveLength(15);
  expect(fits(plain)).toBe(true);
  good(await sendEnvelope(url, token, plain));
  const hash = { artifact_hash: 'a'.repeat(64) };
  const uri = { artifact_uri: 'https://example.com/a' };
  const payload = (held: object) => ({ payload: { schema_version: '1.0', ...held } });
  expect(fits(envelopeOf('registry.list', {}, payload({ ...uri, ...hash })))).toBe(true);
  const wrong = [
    ...names.map((name) => ({ [name]: undefined })),
    { envelope_version: '9' },
    { ttl_sec: 0 },
    { ttl_sec: 86_401 },
    { timestamp: 'yesterday' },
    { principal: { sub: 'ed', roles: [] } },
    payload({}),
    payload({ args: {}, ...uri, ...hash }),
    payload({ ...uri }),
    payload({ args: {}, ...hash }),
  ];
  for (const more of wrong) {
    const envelope: unknown = JSON.parse(JSON.stringify(envelopeOf('registry.list', {}, more)));
    expect([more, fits(envelope)]).toEqual([more, false]);
    bad(await sendEnvelope(url, token, envelope), 'INVALID_ARGUMENT');
  }
});
