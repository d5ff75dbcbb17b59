import { ParleyError } from '@parley/protocol';
import * as z from 'zod';

import type { Config } from '../config/schema.ts';
import { readSecretFile, type SecretFile } from '../secret-file.ts';
import { amazonSigner, googleSigner, type V4Signer } from './v4-signature.ts';

const Account = z.object({ client_email: z.string().min(1), private_key: z.string().min(1) });
const Key = z.strictObject({ access_key_id: z.string().min(1), secret_access_key: z.string().min(1) });

/** Who signs for the bucket of the configuration, and where it is served. */
export function bucketSigner(settings: Config['artifacts']): { signer: V4Signer; endpoint: string } {
  const { service, region, credentials: path } = settings;
  if (service === 'gcs') {
    const { value } = readCredentials(path, Account, 'the JSON file of a service account');
    return { signer: googleSigner(value), endpoint: settings.endpoint || 'https://storage.googleapis.com' };
  }
  const key = readCredentials(path, Key, 'a JSON file of access_key_id and secret_access_key');
  if (key.openTo === 'everybody')
    throw new ParleyError(
      'VALIDATION_ERROR',
      `everybody may read the file that artifacts.credentials names; close it with: chmod 600 ${path}`,
    );
  return {
    signer: amazonSigner({ ...key.value, region }),
    endpoint: settings.endpoint || `https://s3.${region}.amazonaws.com`,
  };
}

function readCredentials<T>(
  path: string,
  schema: z.ZodType<T>,
  what: string,
): { value: T; openTo: SecretFile['openTo'] | undefined } {
  try {
    const file = readSecretFile(path);
    return { value: schema.parse(JSON.parse(file?.text ?? '')), openTo: file?.openTo };
  } catch {
    throw new ParleyError(
      'VALIDATION_ERROR',
      `artifacts.credentials must name ${what}${path === '' ? '' : `, and ${path} is none`}`,
    );
  }
}
