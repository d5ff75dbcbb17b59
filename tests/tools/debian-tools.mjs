/** The tools that come from the Debian archive. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where packages are unpacked that would start a service, or change what others find, if they were installed. */
export const UNPACKED = fileURLToPath(new URL('../../.cache/debian/', import.meta.url));

/** WebKit brings these and does not use them here; Codex takes what is installed of them for its own sandbox. */
const SANDBOX = ['bubblewrap', 'xdg-dbus-proxy'];

/** Where each Debian tool stands, and which packages bring it. */
export function debianTools() {
  return [
    { name: 'strace', path: inPath('strace'), packages: ['strace'] },
    { name: 'certutil', path: inPath('certutil'), packages: ['libnss3-tools'] },
    { name: 'faketime', path: inPath('faketime'), packages: ['faketime'] },
    { name: 'libfaketime', path: libfaketime(), packages: ['faketime'] },
    { name: 'vim', path: inPath('vim'), packages: ['vim'] },
    { name: 'less', path: inPath('less'), packages: ['less'] },
    { name: 'htop', path: inPath('htop'), packages: ['htop'] },
    { name: 'nano', path: inPath('nano'), packages: ['nano'] },
    { name: 'tmux', path: inPath('tmux'), packages: ['tmux'] },
    { name: 'zsh', path: inPath('zsh'), packages: ['zsh'] },
    { name: 'fish', path: inPath('fish'), packages: ['fish'] },
    fusePython(),
    // Debian's own, where it is there: what others have installed beside theirs is no part of Python.
    { name: 'python', path: existing('/usr/bin/python3') ?? inPath('python3'), packages: ['python3'] },
    { name: 'prometheus', path: unpacked('prometheus'), unpack: 'prometheus' },
    { name: 'promtool', path: unpacked('promtool'), unpack: 'prometheus' },
    { name: 'nats-server', path: unpacked('nats-server'), unpack: 'nats-server' },
    { name: 'xvfb', path: inPath('Xvfb'), packages: ['xvfb'] },
    {
      name: 'webkitgtk',
      path: bundled('webkitgtk', 'WebKitWebDriver'),
      bundle: {
        folder: 'webkitgtk',
        packages: ['webkit2gtk-driver', 'libwebkit2gtk-4.1-0', 'libjavascriptcoregtk-4.1-0'],
        without: SANDBOX,
        moved: { library: 'libwebkit2gtk-4.1.so.0', home: 'webkit2gtk-4.1' },
      },
    },
    {
      name: 'wpewebkit',
      path: bundled('wpewebkit', 'WPEWebDriver'),
      bundle: {
        folder: 'wpewebkit',
        packages: [
          'wpewebkit-driver',
          'libwpewebkit-1.1-0',
          'cog',
          'libwpebackend-fdo-1.0-1',
          'libwpe-1.0-1',
        ],
        without: SANDBOX,
        moved: { library: 'libWPEWebKit-1.1.so.0', home: 'wpe-webkit-1.1' },
      },
    },
    // The fonts decide how wide words are, and so what fits.
    {
      name: 'chromium',
      path: inPath('chromium'),
      packages: ['chromium', 'fonts-inter', 'fonts-dejavu-core'],
    },
    // The same engine without a window behind it: a page costs half as much.
    {
      name: 'chromium-headless',
      // The command of this name is a shell that waits for it, and leaves it behind when it is killed.
      path: existing('/usr/lib/chromium/chromium-headless-shell') ?? inPath('chromium-headless-shell'),
      packages: ['chromium-headless-shell'],
    },
  ];
}

// A Python from elsewhere may shadow the system's, which alone sees Debian's modules.
function fusePython() {
  const name = 'fuse-python';
  if (process.platform === 'linux' && !existsSync('/dev/fuse'))
    return { name, unavailable: 'this machine has no /dev/fuse' };
  const found =
    existsSync('/usr/bin/python3') &&
    inPath('fusermount') !== undefined &&
    spawnSync('/usr/bin/python3', ['-c', 'import fusepy'], { stdio: 'ignore' }).status === 0;
  return {
    name,
    path: found ? '/usr/bin/python3' : undefined,
    packages: ['python3', 'python3-fusepy', 'fuse3'],
  };
}

function libfaketime() {
  const folders = existsSync('/usr/lib')
    ? readdirSync('/usr/lib').map((name) => path.join('/usr/lib', name, 'faketime', 'libfaketime.so.1'))
    : [];
  return folders.find((candidate) => existsSync(candidate));
}

function unpacked(program) {
  const folders = ['usr/bin', 'usr/sbin'].map((folder) => path.join(UNPACKED, folder, program));
  return folders.find((candidate) => existsSync(candidate)) ?? inPath(program);
}

/** The folder of shared libraries under the root of an unpacked system. */
export function librariesOf(root) {
  const folder = path.join(root, 'usr', 'lib');
  const machine = readdirSync(folder).find((name) => name.includes('-linux-gnu'));
  return machine === undefined ? folder : path.join(folder, machine);
}

const bundled = (folder, program) => existing(path.join(UNPACKED, folder, 'usr', 'bin', program));

const existing = (file) => (existsSync(file) ? file : undefined);

function inPath(program) {
  const folders = [...(process.env.PATH ?? '').split(path.delimiter), '/usr/bin', '/bin', '/usr/sbin'];
  return folders.map((folder) => path.join(folder, program)).find((candidate) => existsSync(candidate));
}
