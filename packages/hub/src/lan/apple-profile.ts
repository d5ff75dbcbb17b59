import { createHash, type X509Certificate } from 'node:crypto';

/** A configuration profile by which iPadOS, iOS and macOS offer to install the authority. */
export function profileOf(authority: X509Certificate): string {
  const name = escape(authority.subject.replace(/^CN=/, ''));
  const id = (part: string): string => uuidOf(`${part} ${authority.fingerprint256}`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>PayloadType</key><string>Configuration</string>
  <key>PayloadVersion</key><integer>1</integer>
  <key>PayloadIdentifier</key><string>parley.lan.${id('profile')}</string>
  <key>PayloadUUID</key><string>${id('profile')}</string>
  <key>PayloadDisplayName</key><string>${name}</string>
  <key>PayloadDescription</key><string>Lets this device trust the Parley hub of your local network. It vouches for local names and addresses only.</string>
  <key>PayloadContent</key>
  <array>
    <dict>
      <key>PayloadType</key><string>com.apple.security.root</string>
      <key>PayloadVersion</key><integer>1</integer>
      <key>PayloadIdentifier</key><string>parley.lan.${id('root')}</string>
      <key>PayloadUUID</key><string>${id('root')}</string>
      <key>PayloadDisplayName</key><string>${name}</string>
      <key>PayloadCertificateFileName</key><string>parley.crt</string>
      <key>PayloadContent</key><data>${authority.raw.toString('base64')}</data>
    </dict>
  </array>
</dict>
</plist>
`;
}

/** The same profile has the same id each time, so that installing it again replaces it. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ]
    .join('-')
    .toUpperCase();
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
