import { isIPv4 } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';

import { ParleyError } from '@parley/protocol';

import type { Config } from '../config/schema.ts';
import { LOCAL_NAMES } from './own-authority.ts';

/** Where the hub is found on the local network. */
export interface LanPlace {
  address: string;
  name: string;
  machine: string;
}

const PRIVATE =
  /^(?:10\.|127\.|192\.168\.|169\.254\.|172\.(?:1[6-9]|2\d|3[01])\.|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7])\.)/;
/** Networks inside this machine: no tablet is there. */
const INSIDE = /^(?:docker|br-|veth|virbr|vmnet|vboxnet|lo)/;

/** The address and the name that `lan` asks for, or those that this machine has. */
export function lanPlace({ address, name }: Pick<Config['lan'], 'address' | 'name'>): LanPlace {
  const machine =
    hostname()
      .split('.')[0]
      ?.toLowerCase()
      .replaceAll(/[^a-z0-9-]/g, '-') || 'parley';
  const chosen = address === '' ? ownAddress() : address;
  if (!isIPv4(chosen) || !PRIVATE.test(chosen))
    throw new ParleyError(
      'VALIDATION_ERROR',
      `lan.address: ${chosen} is no IPv4 address of a private network; docs/remote.md has ways for others`,
    );
  const called = (name === '' ? `${machine}.local` : name).toLowerCase();
  const isLocal = LOCAL_NAMES.some((end) => called === end || called.endsWith(`.${end}`));
  if (!isLocal || !/^[a-z0-9.-]{1,253}$/.test(called))
    throw new ParleyError(
      'VALIDATION_ERROR',
      `lan.name: ${called} must end with .${LOCAL_NAMES.join(' or .')}`,
    );
  return { address: chosen, name: called, machine };
}

function ownAddress(): string {
  const found = Object.entries(networkInterfaces())
    .filter(([card]) => !INSIDE.test(card))
    .flatMap(([, addresses]) => addresses ?? [])
    .filter(({ family, internal, address }) => family === 'IPv4' && !internal && PRIVATE.test(address))
    .map(({ address }) => address);
  const [first] = found.toSorted(
    (a, b) => Number(b.startsWith('192.168.')) - Number(a.startsWith('192.168.')),
  );
  if (first === undefined)
    throw new ParleyError(
      'UNAVAILABLE',
      'this machine has no address on a private network; name one with --set lan.address=…, or see docs/remote.md',
    );
  return first;
}
