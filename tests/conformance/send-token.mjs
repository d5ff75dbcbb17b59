/** Preloaded into the conformance suite, which cannot send credentials itself: adds the bearer token to every request bound for the server under test. */
import { subscribe } from 'node:diagnostics_channel';

const origin = new URL(process.env.CONFORMANCE_URL ?? '').origin;
const header = `Bearer ${process.env.CONFORMANCE_TOKEN ?? ''}`;

subscribe('undici:request:create', ({ request }) => {
  if (request.origin === origin) request.addHeader('authorization', header);
});

subscribe('http.client.request.created', ({ request }) => {
  const host = request.getHeader('host');
  if (`${request.protocol}//${host}` === origin) request.setHeader('authorization', header);
});
