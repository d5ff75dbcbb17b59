import type { IncomingMessage } from 'node:http';

/** How long a browser keeps the cookie of a device that is not used. */
export const DEVICE_LIFE_MS = 30 * 86_400_000;

/** One name for each port: cookies know hosts only, and a machine may run several hubs. */
function names({ socket }: IncomingMessage): { plain: string; secure: string } {
  const plain = `parley-${socket.localPort ?? 0}`;
  return { plain, secure: `__Host-${plain}` };
}

/** What the device's cookie holds; undefined when the request brings none. */
export function readDeviceCookie(request: IncomingMessage): string | undefined {
  const { cookie } = request.headers;
  if (cookie === undefined) return undefined;
  const { plain, secure } = names(request);
  const pairs = cookie.split(';').map((pair) => pair.trim());
  const valueOf = (name: string): string | undefined =>
    pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
  return valueOf(secure) ?? valueOf(plain);
}

/** The header that gives the cookie to the browser, or with an empty value takes it away; no script ever sees it. */
export function writeDeviceCookie(
  request: IncomingMessage,
  value: string,
  secure = isSecure(request),
): string {
  const name = names(request);
  const parts = [
    'HttpOnly',
    'SameSite=Strict',
    'Path=/',
    `Max-Age=${value === '' ? 0 : DEVICE_LIFE_MS / 1_000}`,
  ];
  // Safari keeps no Secure cookie of a plain loopback address.
  return secure
    ? [`${name.secure}=${value}`, 'Secure', ...parts].join('; ')
    : [`${name.plain}=${value}`, ...parts].join('; ');
}

/** TLS by the hub itself, or by whoever stands before it: then the page's own address says so. */
function isSecure({ socket, headers }: IncomingMessage): boolean {
  return (
    ('encrypted' in socket && socket.encrypted === true) || headers.origin?.startsWith('https://') === true
  );
}
