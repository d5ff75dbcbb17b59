import { createPublicKey, createVerify, generateKeyPairSync } from 'node:crypto';

import { AwsClient } from 'aws4fetch';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { amazonSigner, type BucketRequest, googleSigner, prepareV4, signV4 } from './v4-signature.ts';

const EMAIL = 'test-iam-credentials@dummy-project-id.iam.gserviceaccount.com';
const google = googleSigner({ client_email: EMAIL, private_key: '' });
const simple: BucketRequest = {
  method: 'GET',
  endpoint: 'https://storage.googleapis.com',
  path: 'test-bucket/test-object',
  at: new Date('2019-02-01T09:00:00Z'),
  expiresSec: 10,
};

/** From the public conformance tests of Google Cloud Storage (googleapis/conformance-tests, v4_signatures.json). */
const VECTORS: [string, Partial<BucketRequest>, string][] = [
  ['simple GET', {}, '00e2fb794ea93d7adb703edaebdd509821fcc7d4f1a79ac5c8d2b394df109320'],
  ['simple PUT', { method: 'PUT' }, '78742860705da91404222d5d66ff89850292471199c3c2808d116ad12e6177b4'],
  [
    'other time',
    { at: new Date('2019-03-01T09:00:00Z'), expiresSec: 20 },
    '779f19fdb6fd381390e2d5af04947cf21750277ee3c20e0c97b7e46a1dff8907',
  ],
  [
    'other object',
    { path: 'test-bucket2/test-object2' },
    'a139afbf35ac30e9864f63197f79609731ab1b0ca166e2a456dba156fcd3f9ce',
  ],
  [
    'slashes stay',
    { path: 'test-bucket//path/with/slashes/under_score/amper&sand/file.ext' },
    '63c601ecd6ccfec84f1113fc906609cbdf7651395f4300cecd96ddd2c35164f8',
  ],
  [
    'query encoded',
    { query: { 'aA0é/=%-_.~': '~ ._-%=/é0Aa' } },
    '448f96c23dafa8210900554e138b2b5fd55bc53ef53b8637cecc3edec45a8fcf',
  ],
  [
    'query ordered',
    { query: { prefix: '/foo', 'X-Goog-Meta-Foo': 'bar' } },
    '4dafe74ad142f32b7c25fc4e6b38fd3b8a6339d7f112247573fb0066f637db6c',
  ],
  [
    'other host',
    { endpoint: 'http://localhost:8080' },
    'e47446edb8eed4c1797dfd31ce30272be89659a6ef38e91b549740c8f875d27b',
  ],
];

test.each(VECTORS)('[KNOW-12] the published V4 vector: %s', (_name, change, digest) => {
  expect(
    prepareV4({ ...simple, ...change }, google)
      .text.split('\n')
      .at(-1),
  ).toBe(digest);
});

test('[KNOW-12] the published V4 signature fits what we would sign, and ours verifies', () => {
  const published = createPublicKey({
    format: 'jwk',
    key: {
      kty: 'RSA',
      e: 'AQAB',
      n: 'rD8zIqyKLbX0Nq8o0Jj1qHEhHhqO3-0OP7TEFx5Vxc6PdwBoFNrfnJRI_S-ZaDYS1avr5Pqpp8g8-UNOMvI1VsjGM8xjTaxkVv8mmKp6pSmQstTt25pzY1exA2wv4xNWSwWNFNx2kh35-kvTQ_DF3YA9P7pUU1sKur1PP8OoubWLFO59iy5UE5dX0O_3pjvZ2HAhSXsx2VWtB5nlrHR8FrKJNLJMEGEDSMz9yRfQaUeYCU9oDYHuiqKQ3rCXi6C82l-3FJw5_ggJ5y7iw8MErCFSslcYQRbBVz6ZYKWkEcJhs8BG3_16bfaqNusNlDIJ99I7DmipUngF_HEulYhfrQ',
    },
  });
  const signature =
    '95e6a13d43a1d1962e667f17397f2b80ac9bdd1669210d5e08e0135df9dff4e56113485dbe429ca2266487b9d1796ebdee2d7cf682a6ef3bb9fbb4c351686fba90d7b621cf1c4eb1fdf126460dd25fa0837dfdde0a9fd98662ce60844c458448fb2b352c203d9969cb74efa4bdb742287744a4f2308afa4af0e0773f55e32e92973619249214b97283b2daa14195244444e33f938138d1e5f561088ce8011f4986dda33a556412594db7c12fc40e1ff3f1bedeb7a42f5bcda0b9567f17f65855f65071fabb88ea12371877f3f77f10e1466fff6ff6973b74a933322ff0949ce357e20abe96c3dd5cfab42c9c83e740a4d32b9e11e146f0eb3404d2e975896f74';
  const verify = (text: string, hex: string, key = published) =>
    createVerify('RSA-SHA256').update(text).verify(key, hex, 'hex');
  expect(verify(prepareV4(simple, google).text, signature)).toBe(true);
  expect(verify(prepareV4({ ...simple, method: 'PUT' }, google).text, signature)).toBe(false);

  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const private_key = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const url = signV4(simple, googleSigner({ client_email: EMAIL, private_key }));
  const [before = '', found = ''] = url.split('&X-Goog-Signature=');
  expect(before).toBe(prepareV4(simple, google).url);
  expect(verify(prepareV4(simple, google).text, found, publicKey)).toBe(true);
});

/** From the documents of Amazon S3, "Authenticating Requests: Using Query Parameters". */
const KEY = {
  access_key_id: 'AKIAIOSFODNN7EXAMPLE',
  secret_access_key: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};

test('[KNOW-12] the published example of S3 is signed as its documents have it', () => {
  const request: BucketRequest = {
    method: 'GET',
    endpoint: 'https://examplebucket.s3.amazonaws.com',
    path: 'test.txt',
    at: new Date('2013-05-24T00:00:00Z'),
    expiresSec: 86_400,
  };
  const signer = amazonSigner({ ...KEY, region: 'us-east-1' });
  expect(prepareV4(request, signer).text.split('\n').at(-1)).toBe(
    '3bfa292879f6447bbcda7001decf97f4a54dc650c8942174ae0a9121cf58ad04',
  );
  expect(signV4(request, signer)).toBe(
    'https://examplebucket.s3.amazonaws.com/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=AKIAIOSFODNN7EXAMPLE%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=20130524T000000Z&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404',
  );
});

test('[KNOW-12] whatever is signed for S3 is signed as by a signer that others wrote', async () => {
  const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
  const segment = fc.stringMatching(/^[A-Za-z0-9._:@~-]{1,20}$/).filter((text) => !/^\.{1,2}$/.test(text));
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('GET' as const, 'PUT' as const),
      fc.constantFrom(
        'https://s3.eu-central-1.amazonaws.com',
        'http://127.0.0.1:9000',
        'https://blobs.example',
      ),
      fc.array(segment, { minLength: 1, maxLength: 4 }),
      name,
      fc.integer({ min: 1, max: 604_800 }),
      fc.date({ min: new Date('2020-01-01'), max: new Date('2040-01-01'), noInvalidDate: true }),
      fc.constantFrom('us-east-1', 'eu-central-1', 'auto'),
      async (method, endpoint, segments, file, expiresSec, at, region) => {
        const query = { 'response-content-disposition': `attachment; filename="${file}"` };
        const request = { method, endpoint, path: segments.join('/'), query, at, expiresSec };
        const { access_key_id: accessKeyId, secret_access_key: secretAccessKey } = KEY;
        const other = new AwsClient({ accessKeyId, secretAccessKey, service: 's3', region });
        const url = new URL(`${endpoint}/${segments.map(encodeURIComponent).join('/')}`);
        for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
        url.searchParams.set('X-Amz-Expires', String(expiresSec));
        const datetime = at.toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
        const signed = await other.sign(url.href, { method, aws: { signQuery: true, datetime } });
        const ours = new URL(signV4(request, amazonSigner({ ...KEY, region })));
        expect(Object.fromEntries(ours.searchParams)).toEqual(
          Object.fromEntries(new URL(signed.url).searchParams),
        );
      },
    ),
  );
});
