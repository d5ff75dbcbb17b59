import type { OutputOf } from '@parley/protocol';
import { useEffect, useState } from 'preact/hooks';

import { call, newKey, wordsOf } from '../data/api.ts';
import { typed } from '../data/state.ts';
import { left } from '../time.ts';
import { Sheet } from './sheet.tsx';

type Paired = OutputOf<'pair_device'>;

/** The code and the picture by which another device signs in. */
export function PairSheet({ onClose }: { onClose: () => void }) {
  const [readOnly, limit] = useState(false);
  const [paired, set] = useState<Paired | undefined>();
  const [picture, draw] = useState<string | undefined>();
  const [failed, fail] = useState<string | undefined>();
  useEffect(() => {
    let gone = false;
    set(undefined);
    draw(undefined);
    call('pair_device', { read_only: readOnly, idempotency_key: newKey() }).then(
      async (answer) => {
        if (gone) return;
        set(answer);
        // A camera elsewhere would look for the hub on its own machine.
        if (isLoopback(new URL(addressOf(answer)).hostname)) return;
        const { encode } = await import('uqr');
        draw(toPath(encode(`${addressOf(answer)}/#k=${answer.key}`, { border: 0 }).data));
      },
      (error: unknown) => fail(wordsOf(error)),
    );
    return () => {
      gone = true;
    };
  }, [readOnly]);
  return (
    <Sheet title="Sign in another device" onClose={onClose}>
      {failed === undefined ? null : <p class="ask-failed">{failed}</p>}
      <div class="pair">
        {picture === undefined ? null : (
          <div class="pair-picture">
            <Picture path={picture} />
          </div>
        )}
        <div class="pair-words">
          <p>
            {picture === undefined ? 'On this machine, open' : 'Point its camera at the picture, or open'}
          </p>
          <p class="mono pair-address">{addressOf(paired)}</p>
          <p>and type</p>
          <p class="pair-code">{paired?.code ?? '····-····'}</p>
          <p class="meta">
            {paired === undefined ? 'One moment' : `Works once. Expires in ${left(paired.expires_at).text}.`}
          </p>
        </div>
      </div>
      <label class="switch">
        <input type="checkbox" checked={readOnly} onChange={(event) => limit(event.currentTarget.checked)} />
        <span>
          <strong>May only look</strong>
          <span class="meta">For a tablet on the wall: it shows everything and decides nothing.</span>
        </span>
      </label>
      {isLoopback(new URL(addressOf(paired)).hostname) ? (
        <p class="note">
          This address leads to this machine alone. For a tablet, start the hub with{' '}
          <code>{typed('serve --lan')}</code>, or put TLS before it:{' '}
          <a href="/docs/remote" target="_blank" rel="noopener">
            another machine
          </a>
          .
        </p>
      ) : null}
    </Sheet>
  );
}

function Picture({ path }: { path: string }) {
  const [size = '0', d = ''] = path.split('|');
  return (
    <svg
      viewBox={`-2 -2 ${Number(size) + 4} ${Number(size) + 4}`}
      role="img"
      aria-label="The sign-in link as a QR code"
      shape-rendering="crispEdges"
    >
      <path d={d} fill="#000" />
    </svg>
  );
}

/** The dark squares of a QR code as one drawing. */
function toPath(rows: boolean[][]): string {
  const d = rows.flatMap((row, y) => row.flatMap((dark, x) => (dark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
  return `${rows.length}|${d}`;
}

/** Where the other device finds the hub: where this one does, unless that is this machine alone. */
function addressOf(paired: Paired | undefined): string {
  return isLoopback(location.hostname) ? (paired?.address ?? location.origin) : location.origin;
}

function isLoopback(hostname: string): boolean {
  return /^(localhost|127\.|\[::1\])/.test(hostname);
}
