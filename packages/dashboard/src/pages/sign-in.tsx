import { useEffect, useState } from 'preact/hooks';

import { wordsOf } from '../data/api.ts';
import { issuerWay, linkKey, signIn } from '../data/session.ts';
import { signInAt } from '../data/state.ts';
import { CodeLine } from '../parts/code-line.tsx';
import { useTitle } from '../parts/page.tsx';
import { Mark } from '../parts/mark.tsx';

/** Where a device that nobody knows gets in: by a link, or by typing a code. */
export function SignInPage({ failed: before }: { failed?: string | undefined }) {
  const [code, type] = useState('');
  const [busy, work] = useState(false);
  const [failed, fail] = useState(before);
  useTitle('Sign in');
  useEffect(() => fail(before), [before]);
  const enter = async (word: string): Promise<void> => {
    work(true);
    fail(undefined);
    try {
      await signIn(word);
    } catch (error) {
      fail(wordsOf(error));
      work(false);
    }
  };
  const fault =
    failed === undefined ? null : (
      <p class="ask-failed" role="alert">
        {failed.slice(0, 1).toUpperCase() + failed.slice(1)}
      </p>
    );
  return (
    <main class="sign-in">
      <div class="sign-in-card">
        <Mark size={44} />
        <h1>Sign in to Parley</h1>
        {signInAt.value === undefined ? (
          <p class="lead">
            Follow a sign-in link on this device, or type a code. A link can be pasted here too.
          </p>
        ) : (
          <>
            <p class="lead">You sign in at {signInAt.value} and come back here.</p>
            {fault}
            {/* With a target it is the browser that follows it, not the app. */}
            <a class="button-primary button-wide" href={issuerWay()} target="_self">
              Sign in with {signInAt.value}
            </a>
            <p class="sign-in-or">or with a link or a code</p>
          </>
        )}
        <form
          onSubmit={(event) => {
            event.preventDefault();
            void enter(code);
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
              onPaste={(event) => {
                const key = linkKey(event.clipboardData?.getData('text') ?? '');
                if (key === undefined) return;
                event.preventDefault();
                void enter(key);
              }}
            />
          </label>
          {signInAt.value === undefined ? fault : null}
          <button
            type="submit"
            class={signInAt.value === undefined ? 'button-primary button-wide' : 'button button-wide'}
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
