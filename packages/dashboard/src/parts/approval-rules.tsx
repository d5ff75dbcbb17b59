import { type OutputOf, readAll } from '@parley/protocol';

import { attempt, maySteer } from '../data/actions.ts';
import { call, newKey } from '../data/api.ts';
import { agoWords } from '../time.ts';
import { plural } from '../words.ts';
import { Section } from './page.tsx';
import { Row } from './row.tsx';
import { useRefreshed } from './use-refreshed.ts';

type ApprovalRule = OutputOf<'list_approval_rules'>['approval_rules'][number];

/** What is approved without asking, and back to asking with one tap. */
export function ApprovalRules({ onAnswer }: { onAnswer: () => void }) {
  const load = (): Promise<ApprovalRule[]> =>
    readAll(
      (place) => call('list_approval_rules', place),
      (page) => page.approval_rules,
    ).finally(onAnswer);
  const { found: approval_rules = [], failed, again } = useRefreshed(load, 10_000, []);
  return (
    <Section title="Approved without asking" count={approval_rules.length}>
      {failed === undefined ? null : <p class="ask-failed">{failed}</p>}
      {approval_rules.length === 0 ? (
        <p class="meta">
          No rules yet. To add one, open the three dots of a request and choose “Always approve such
          commands”.
        </p>
      ) : (
        <div class="list">
          {approval_rules.map((approval_rule) => (
            <Row
              key={approval_rule.approval_rule_id}
              icon="check"
              isMono
              title={<span>{approval_rule.command}</span>}
              lines={
                <span class="row-line row-lines">
                  {approval_rule.of_agent}
                  {approval_rule.cwd === undefined ? '' : ` in ${approval_rule.cwd}`} · by{' '}
                  {approval_rule.given_by} ·{' '}
                  {approval_rule.last_used_at === undefined
                    ? 'not used yet'
                    : `${plural(approval_rule.uses, 'time')}, last ${agoWords(approval_rule.last_used_at)}`}
                </span>
              }
            >
              {maySteer() ? (
                <button
                  type="button"
                  class="button-danger"
                  onClick={() =>
                    void attempt(
                      () =>
                        call('revoke_approval_rule', {
                          approval_rule_id: approval_rule.approval_rule_id,
                          idempotency_key: newKey(),
                        }),
                      'You are asked again.',
                    ).then(again)
                  }
                >
                  Revoke
                </button>
              ) : null}
            </Row>
          ))}
        </div>
      )}
    </Section>
  );
}
