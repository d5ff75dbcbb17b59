import type { IncomingMessage } from 'node:http';

/** The name under which tries of a peer are counted: its address, and of IPv6 the network that one person is given. */
export function peerOf({ socket }: Pick<IncomingMessage, 'socket'>): string {
  return networkOf(socket.remoteAddress ?? '');
}

/** An IPv4 address as it is, however it is written, and the /64 of an IPv6 one. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(':')) return address;
  const [bare = ''] = address.split('%');
  const [head = '', tail = ''] = bare.split('::');
  const front = head === '' ? [] : head.split(':');
  const back = tail.split(':');
  const gap = Math.max(0, 8 - front.length - back.length);
  const groups = [...front, ...Array.from({ length: gap }, () => '0'), ...back];
  return `${groups.slice(0, 4).join(':')}::/64`;
}
