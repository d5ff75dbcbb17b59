import { useState } from 'preact/hooks';

import { wordsOf } from '../data/api.ts';
import { signIn } from '../data/session.ts';
import { CodeLine } from '../parts/code-line.tsx';
import { useTitle } from '../parts/page.tsx';
import { Mark } from '../parts/mark.tsx';

/** Where a device that nobody knows gets in: by a link, or by typing a code. */
export function SignInPage({ failed: before }: { failed?: string | undefined }) {
  const [code, type] = useState('');
  const [busy, work] = useState(false);
  const [failed, fail] = useState(before);
  useTitle('Sign in');
  const enter = async (): Promise<void> => {
    work(true);
    fail(undefined);
    try {
      await signIn(code);
    } catch (error) {
      fail(wordsOf(error));
      work(false);
    }
  };
  return (
    <main class="sign-in">
      <div class="sign-in-card">
        <Mark size={44} />
        <h1>Sign in to Parley</h1>
        <p class="lead">Follow a sign-in link on this device, or type a code.</p>
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void enter();
          }}
        >
          <label class="field">
            <span>Code</span>
            <input
              class="code-field"
              value={code}
              placeholder="XXXX-XXXX"
              autocomplete="one-time-code"
              autocapitalize="characters"
              spellcheck={false}
              maxLength={12}
              onInput={(event) => type(event.currentTarget.value)}
            />
          </label>
          {failed === undefined ? null : (
            <p class="ask-failed" role="alert">
              {failed}
            </p>
          )}
          <button
            type="submit"
            class="button-primary button-wide"
            disabled={busy || code.replaceAll(/[^a-z0-9]/gi, '').length < 8}
          >
            Sign in
          </button>
        </form>
        <p class="meta">On the machine where the hub runs:</p>
        <CodeLine text="parley link" />
        <CodeLine text="parley pair" />
      </div>
    </main>
  );
}
