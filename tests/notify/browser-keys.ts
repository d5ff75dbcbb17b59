import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';

/** What a browser makes when it subscribes, and what it does with a push: RFC 8291, on Node's own cryptography. */
export function subscribeAsBrowser() {
  const curve = createECDH('prime256v1');
  curve.generateKeys();
  const auth = randomBytes(16);
  return {
    p256dh: curve.getPublicKey().toString('base64url'),
    auth: auth.toString('base64url'),
    /** The message inside the body of a push. */
    decrypt(body: Buffer): string {
      const salt = body.subarray(0, 16);
      const length = body.readUInt8(20);
      const sender = body.subarray(21, 21 + length);
      const shared = curve.computeSecret(sender);
      const info = Buffer.concat([Buffer.from('WebPush: info\0'), curve.getPublicKey(), sender]);
      const key = Buffer.from(hkdfSync('sha256', shared, auth, info, 32));
      const content = Buffer.from(
        hkdfSync('sha256', key, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16),
      );
      const nonce = Buffer.from(hkdfSync('sha256', key, salt, Buffer.from('Content-Encoding: nonce\0'), 12));
      const sealed = body.subarray(21 + length);
      const open = createDecipheriv('aes-128-gcm', content, nonce);
      open.setAuthTag(sealed.subarray(-16));
      const padded = Buffer.concat([open.update(sealed.subarray(0, -16)), open.final()]);
      return padded.subarray(0, padded.lastIndexOf(2)).toString('utf8');
    },
  };
}
