import { badSignature, type Passkeys } from '@parley/core';
import { fieldsOf } from '@parley/protocol';

/** Checks what browsers make and sign; the library for it is loaded with the first passkey. */
export function createPasskeys(options: Pick<Passkeys, 'demanded' | 'hub' | 'origins'>): Passkeys {
  return {
    ...options,
    async checkNew({ credential_id: id, client_data, attestation }, { key, origin, site }) {
      const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
      return refusing(async () => {
        refuseFrames(client_data);
        const { registrationInfo } = await verifyRegistrationResponse({
          response: {
            id,
            rawId: id,
            type: 'public-key',
            response: { clientDataJSON: client_data, attestationObject: attestation },
            clientExtensionResults: {},
          },
          expectedChallenge: key,
          expectedOrigin: origin,
          expectedRPID: site,
          requireUserVerification: true,
        });
        if (registrationInfo?.credential.id !== id) throw new Error('it is not what its device made');
        const { publicKey, counter } = registrationInfo.credential;
        return { public_key: Buffer.from(publicKey).toString('base64url'), counter };
      });
    },
    checkSignature,
  };
}

/** Holds one signature against its challenge, its page and its passkey, as the hub does and the doctor again. */
export const checkSignature: Passkeys['checkSignature'] = async (
  { credential_id: id, client_data, authenticator_data, signature },
  { key, origin, site },
  { credential_id, public_key, counter },
) => {
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  return refusing(async () => {
    refuseFrames(client_data);
    if (id !== credential_id) throw new Error('it is of another passkey');
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        id,
        rawId: id,
        type: 'public-key',
        response: { clientDataJSON: client_data, authenticatorData: authenticator_data, signature },
        clientExtensionResults: {},
      },
      expectedChallenge: key,
      expectedOrigin: origin,
      expectedRPID: site,
      credential: { id, publicKey: new Uint8Array(Buffer.from(public_key, 'base64url')), counter },
      requireUserVerification: true,
    });
    if (!verified) throw new Error('it does not fit the public key');
    return { counter: authenticationInfo.newCounter };
  });
};

/** The hub's pages are in no frame of another; a browser says so of what it signs. */
function refuseFrames(clientData: string): void {
  const { crossOrigin } = fieldsOf(JSON.parse(Buffer.from(clientData, 'base64url').toString()));
  if (crossOrigin === true) throw new Error('it was made inside a page of another');
}

async function refusing<T>(check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    throw badSignature((error instanceof Error ? error.message : String(error)).slice(0, 300));
  }
}
