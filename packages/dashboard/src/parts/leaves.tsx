import type { OutputOf } from '@parley/protocol';
import { useEffect, useState } from 'preact/hooks';

import { attempt, maySteer } from '../data/actions.ts';
import { call, newKey, read, wordsOf } from '../data/api.ts';
import { ago } from '../time.ts';
import { plural } from '../words.ts';
import { Icon } from './icon.tsx';
import { Section } from './page.tsx';

type Leave = OutputOf<'list_leaves'>['leaves'][number];

/** What is approved without asking, and back to asking with one tap. */
export function Leaves() {
  const [leaves, set] = useState<readonly Leave[]>([]);
  const [failed, fail] = useState<string | undefined>();
  const load = (): void => {
    read<OutputOf<'list_leaves'>>('/v1/leaves').then(
      (found) => set(found.leaves),
      (error: unknown) => fail(wordsOf(error)),
    );
  };
  useEffect(() => {
    load();
    const timer = setInterval(load, 10_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <Section title="Approved without asking" count={leaves.length}>
      {failed === undefined ? null : <p class="ask-failed">{failed}</p>}
      {leaves.length === 0 ? (
        <p class="meta">Nothing. A rule is made from a request: more ways to answer, always.</p>
      ) : (
        <div class="list">
          {leaves.map((leave) => (
            <div key={leave.leave_id} class="row">
              <span class="row-main">
                <Icon name="check" />
                <span class="row-text">
                  <span class="row-title mono">
                    <span>{leave.command}</span>
                  </span>
                  <span class="row-line row-lines">
                    {leave.of_agent}
                    {leave.cwd === undefined ? '' : ` in ${leave.cwd}`} · by {leave.given_by} ·{' '}
                    {leave.last_used_at === undefined
                      ? 'not used yet'
                      : `${plural(leave.uses, 'time')}, last ${ago(leave.last_used_at)} ago`}
                  </span>
                </span>
              </span>
              {maySteer() ? (
                <button
                  type="button"
                  class="button-danger"
                  onClick={() =>
                    void attempt(
                      () => call('revoke_leave', { leave_id: leave.leave_id, idempotency_key: newKey() }),
                      'You are asked again.',
                    ).then(load)
                  }
                >
                  Revoke
                </button>
              ) : null}
            </div>
          ))}
        </div>
      )}
    </Section>
  );
}
