import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Browser, chromium } from 'playwright-core';

import { atFileEnd } from '../harness/at-file-end.ts';
import { requireTool, tool } from '../tools/tools.ts';

/** A browser of another machine, with an address book and a list of authorities of its own. */
export interface OtherMachine {
  open(): Promise<Browser>;
  /** Installs an authority, as the page for devices asks people to; browsers that are opened afterwards trust it. */
  trust(pem: string): void;
}

/** A machine on which `name` is at `address`; it goes away with the file of the test. */
export function otherMachine(name: string, address: string): OtherMachine {
  const home = mkdtempSync(join(tmpdir(), 'parley-nss-'));
  atFileEnd(() => rmSync(home, { recursive: true, force: true }));
  return {
    async open() {
      const lean = tool('chromium-headless');
      const browser = await chromium.launch({
        executablePath: typeof lean === 'string' ? lean : requireTool('chromium'),
        args: [
          '--no-sandbox',
          '--disable-dev-shm-usage',
          '--disable-gpu',
          `--host-resolver-rules=MAP ${name} ${address}`,
        ],
        env: { ...process.env, HOME: home },
      });
      atFileEnd(() => browser.close());
      return browser;
    },
    trust(pem) {
      const database = join(home, '.pki/nssdb');
      mkdirSync(database, { recursive: true });
      const file = join(home, 'parley.pem');
      writeFileSync(file, pem);
      const certutil = requireTool('certutil');
      execFileSync(certutil, ['-d', `sql:${database}`, '-N', '--empty-password']);
      const added = ['-A', '-t', 'C,,', '-n', 'parley', '-i', file];
      execFileSync(certutil, ['-d', `sql:${database}`, ...added]);
    },
  };
}
