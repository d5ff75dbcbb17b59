import { type Exchange, HttpRefusal } from '../../exchange.ts';

/** Longest form that is read: one token. */
const MAX_BYTES = 16_384;

/** Reads a small form, as issuers send it. */
export async function readForm({ request }: Exchange): Promise<URLSearchParams> {
  const [type = ''] = (request.headers['content-type'] ?? '').split(';');
  if (type.trim().toLowerCase() !== 'application/x-www-form-urlencoded')
    throw new HttpRefusal(415, 'VALIDATION_ERROR', 'send Content-Type: application/x-www-form-urlencoded');
  if (Number(request.headers['content-length'] ?? 0) > MAX_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    // A request without an encoding comes in bytes.
    size += (chunk as Buffer).length;
    if (size > MAX_BYTES) throw tooLarge();
    // A request without an encoding comes in bytes.
    chunks.push(chunk as Buffer);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString('utf8'));
}

const tooLarge = (): HttpRefusal =>
  new HttpRefusal(413, 'VALIDATION_ERROR', `the form is larger than ${MAX_BYTES} bytes`, {
    connection: 'close',
  });
