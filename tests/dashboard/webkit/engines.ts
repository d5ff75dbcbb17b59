import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';

import { vi } from 'vitest';

import { atFileEnd } from '../../harness/at-file-end.ts';
import { librariesOf } from '../../tools/debian-tools.mjs';
import { requireTool } from '../../tools/tools.ts';
import { PATIENCE_MS } from '../desk.ts';
import { openSession, type Session } from './webdriver.ts';

/** What people look at, without what the browser has around it. */
export interface Size {
  width: number;
  height: number;
}

/** A browser of the WebKit family with one window. */
export interface Engine {
  session: Session;
  /** Gives the page this size, where the browser can. */
  resize(size: Size): Promise<void>;
}

const MEASURE = `return {
  width: innerWidth,
  height: innerHeight,
  bars: outerHeight - innerHeight,
  focused: document.hasFocus(),
};`;

const DISPLAY: Size = { width: 1280, height: 1400 };

/** Starts WebKitGTK, which follows the newest Safari, on a display of its own. */
export async function openWebKitGtk(): Promise<Engine> {
  const folder = freshFolder();
  // The browser's own buttons would keep the window wider than a phone.
  mkdirSync(join(folder, 'gtk-3.0'));
  writeFileSync(
    join(folder, 'gtk-3.0', 'gtk.css'),
    '* { min-width: 0; min-height: 0; padding: 0; margin: 0; border-width: 0; font-size: 1px; }',
  );
  const driver = requireTool('webkitgtk');
  const home = join(librariesOf(rootOf(driver)), 'webkit2gtk-4.1');
  const session = await openUnpacked(driver, home, folder, {
    env: { DISPLAY: await openDisplay() },
    capabilities: {
      'webkitgtk:browserOptions': { binary: join(home, 'MiniBrowser'), args: ['--automation'] },
    },
  });
  // Nobody manages windows here: the one under the pointer has the focus, and the pointer rests in the middle.
  const place = ({ width, height }: Size) =>
    session.call('POST', '/window/rect', {
      x: Math.floor((DISPLAY.width - width) / 2),
      y: Math.floor((DISPLAY.height - height) / 2),
      width,
      height,
    });
  return {
    session,
    resize: ({ width, height }) =>
      vi.waitFor(
        async () => {
          const page = (await session.run(MEASURE)) as Size & { bars: number; focused: boolean };
          if (page.width === width && page.height === height && page.focused) return;
          await place({ width, height: height + page.bars });
          throw new Error(`the page should be ${width} by ${height}: ${JSON.stringify(page)}`);
        },
        { timeout: PATIENCE_MS, interval: 100 },
      ),
  };
}

/** Starts WPE WebKit 2.38, which stands for older Safaris; its screen is always 800 by 600. */
export async function openWpe(): Promise<Engine> {
  const driver = requireTool('wpewebkit');
  const libraries = librariesOf(rootOf(driver));
  const session = await openUnpacked(driver, join(libraries, 'wpe-webkit-1.1'), freshFolder(), {
    env: { COG_MODULEDIR: join(libraries, 'cog', 'modules') },
    capabilities: {
      'wpe:browserOptions': {
        binary: join(dirname(driver), 'cog'),
        args: ['--automation', '--platform=headless'],
      },
    },
  });
  return { session, resize: () => Promise.resolve() };
}

/** The root under which a program was unpacked as `usr/bin/…`. */
const rootOf = (program: string): string => join(dirname(program), '..', '..');

async function openUnpacked(
  driver: string,
  home: string,
  folder: string,
  { env, capabilities }: { env: NodeJS.ProcessEnv; capabilities: object },
): Promise<Session> {
  const session = await openSession(driver, capabilities, {
    // It looks for its other programs where it is started.
    cwd: home,
    env: {
      PATH: process.env['PATH'],
      LANG: 'C.UTF-8',
      LD_LIBRARY_PATH: librariesOf(rootOf(driver)),
      HOME: folder,
      XDG_CONFIG_HOME: folder,
      XDG_RUNTIME_DIR: folder,
      ...env,
    },
  });
  atFileEnd(() => session.close());
  return session;
}

function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-webkit-'));
  atFileEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** An X display without a screen, under the first number that is free. */
async function openDisplay(): Promise<string> {
  const screen = `${DISPLAY.width}x${DISPLAY.height}x24`;
  const args = ['-displayfd', '3', '-screen', '0', screen, '-nolisten', 'tcp'];
  const server = spawn(requireTool('xvfb'), args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  atFileEnd(() => void server.kill('SIGKILL'));
  const [number] = (await once(server.stdio[3] as Readable, 'data', {
    signal: AbortSignal.timeout(20_000),
  })) as [Buffer];
  return `:${number.toString().trim()}`;
}
