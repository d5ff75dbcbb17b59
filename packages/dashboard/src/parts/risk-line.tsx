import { type Ask, RISK_WORDS } from '@parley/protocol';

import { Icon } from './icon.tsx';

/** What the hub itself sees in a command, whatever its agent says of it. */
export function RiskLine({ ask: { risk_hints = [] } }: { ask: Ask }) {
  if (risk_hints.length === 0) return null;
  return (
    <p class="ask-risk">
      <Icon name="warn" size={16} />
      <span>It {risk_hints.map((hint) => RISK_WORDS[hint]).join(', ')}.</span>
    </p>
  );
}
