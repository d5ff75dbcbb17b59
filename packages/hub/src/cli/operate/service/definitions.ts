import { homedir } from 'node:os';
import { join } from 'node:path';

/** Who starts a person's programs at sign-in: systemd on Linux, launchd on macOS. */
export type ServiceKind = 'systemd' | 'launchd';

/** What is to be run, and what it finds in its environment. */
export interface Service {
  words: readonly string[];
  path: string;
}

const UNIT = 'parley.service';
const LABEL = 'dev.parley.hub';

/** One command of the manager, word by word. */
export type Step = readonly [string, ...string[]];

export interface Definition {
  file: string;
  text: (service: Service) => string;
  /** What makes the manager take the file up and start the hub, now and at each sign-in. */
  start: readonly Step[];
  /** The same where an earlier form of it runs already. */
  restart: readonly Step[];
  /** Before the file goes, and after it has gone. */
  stop: readonly Step[];
  forget: readonly Step[];
}

/** The definition of the hub as a service of this person. */
export function definitionOf(kind: ServiceKind, env: NodeJS.ProcessEnv, uid: number): Definition {
  if (kind === 'launchd') {
    const file = join(homedir(), 'Library', 'LaunchAgents', `${LABEL}.plist`);
    const domain = `gui/${uid}`;
    return {
      file,
      text: plist,
      start: [['launchctl', 'bootstrap', domain, file]],
      restart: [
        ['launchctl', 'bootout', `${domain}/${LABEL}`],
        ['launchctl', 'bootstrap', domain, file],
      ],
      stop: [['launchctl', 'bootout', `${domain}/${LABEL}`]],
      forget: [],
    };
  }
  const home = env['XDG_CONFIG_HOME'] ?? join(homedir(), '.config');
  const systemctl = (...words: string[]): Step => ['systemctl', '--user', ...words];
  return {
    file: join(home, 'systemd', 'user', UNIT),
    text: unit,
    start: [systemctl('daemon-reload'), systemctl('enable', '--now', UNIT)],
    restart: [systemctl('daemon-reload'), systemctl('enable', UNIT), systemctl('restart', UNIT)],
    stop: [systemctl('disable', '--now', UNIT)],
    forget: [systemctl('daemon-reload')],
  };
}

/** A unit of systemd; `systemd-analyze --user verify` has nothing to say against it. */
function unit({ words, path }: Service): string {
  return `[Unit]
Description=Parley, the record that coding agents talk through
StartLimitIntervalSec=60
StartLimitBurst=5

[Service]
Type=exec
ExecStart=${words.map(unitWord).join(' ')}
Environment=${unitWord(`PATH=${path}`)}
Restart=on-failure
RestartSec=2
TimeoutStopSec=30
UMask=0077
NoNewPrivileges=yes

[Install]
WantedBy=default.target
`;
}

/** A word as systemd reads it: nothing in it is a variable, a specifier or an escape. */
function unitWord(word: string): string {
  const plain = word
    .replaceAll('%', '%%')
    .replaceAll('\\', '\\\\')
    .replaceAll('"', String.raw`\"`);
  return `"${plain.replaceAll('$', '$$$$')}"`;
}

/** A property list of launchd. */
function plist({ words, path }: Service): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
${words.map((word) => `    <string>${xml(word)}</string>`).join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>PATH</key>
    <string>${xml(path)}</string>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>Umask</key>
  <integer>63</integer>
</dict>
</plist>
`;
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
