import type { OutputOf } from '@parley/protocol';
import type { Command } from 'commander';

import { addConnectOptions, connect } from '../connect.ts';
import { print, printLines } from '../output.ts';
import { pictureOf } from '../picture.ts';
import { painter } from '../style.ts';

/** The address that signs a browser in: what stands behind # never leaves the browser but in the sign-in itself. */
export function dashboardLink(url: string, key: string): string {
  return `${url}/#k=${key}`;
}

/** `parley link`: one more link to the dashboard. */
export function addLinkCommand(program: Command): void {
  addConnectOptions(
    program.command('link').description('print a link that signs one browser in to the dashboard'),
  )
    .addHelpText('after', '\nGood once, and for 10 minutes.\n\nExample:\n  parley link')
    .action(async (_options: unknown, command: Command) => {
      const { client, json } = await connect(command);
      const { key, address, expires_at } = await client.pair_device();
      const link = dashboardLink(address, key);
      print({ json }, { link, expires_at }, () => [link]);
    });
}

interface PairOptions {
  name?: string;
  readOnly?: boolean;
}

/** `parley pair`: a code and a picture by which a tablet or a phone signs in. */
export function addPairCommand(program: Command): void {
  addConnectOptions(
    program.command('pair').description('sign a tablet or a phone in, by a code or a picture'),
  )
    .option('--name <name>', 'what the device is to be called')
    .option('--read-only', 'the device may look and change nothing')
    .addHelpText('after', '\nExample:\n  parley pair --name "Wall tablet" --read-only')
    .action(async ({ name, readOnly }: PairOptions, command: Command) => {
      const { client, json } = await connect(command);
      const paired = await client.pair_device({
        read_only: readOnly === true,
        ...(name === undefined ? {} : { name }),
      });
      const { address } = paired;
      const link = dashboardLink(address, paired.key);
      if (json) return print({ json }, { ...paired, link }, () => []);
      const paint = painter(command);
      printLines([
        // A camera elsewhere would look for the hub on its own machine.
        ...(process.stdout.isTTY && !isOwnMachine(address) ? ['', ...(await pictureOf(link))] : []),
        `  Open    ${address}`,
        `  Code    ${paint('bold', paired.code)}`,
        paint('dim', `          (good once, until ${clockTime(paired)}; or follow ${link})`),
        ...reachable(address),
      ]);
    });
}

function clockTime({ expires_at }: OutputOf<'pair_device'>): string {
  return new Date(expires_at).toTimeString().slice(0, 5);
}

function reachable(address: string): string[] {
  if (!isOwnMachine(address)) return [];
  return [
    '  Note    This address is for this machine alone. For a tablet start the hub with `parley serve --lan`,',
    `          or put TLS before it (Tailscale, Caddy): ${address}/docs/remote`,
  ];
}

function isOwnMachine(address: string): boolean {
  const { hostname } = new URL(address);
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
}
