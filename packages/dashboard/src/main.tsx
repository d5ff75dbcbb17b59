import { effect } from '@preact/signals';
import { render } from 'preact';

import { App, linkFault } from './app.tsx';
import { wordsOf } from './data/api.ts';
import { disconnect, goLive } from './data/live.ts';
import { signIn, takeFault, takeLinkKey, whoAmI } from './data/session.ts';
import { me, openAsks, tick } from './data/state.ts';
import { listenToKeys } from './keys.ts';
import { followLinks } from './router.ts';
import { installWorker } from './worker-install.ts';
import { applyTheme } from './theme.ts';

async function enter(): Promise<void> {
  const why = takeFault();
  if (why !== undefined) linkFault.value = (await import('./data/sign-in-faults.ts')).faultWords(why);
  const key = takeLinkKey();
  if (key !== undefined) {
    try {
      linkFault.value = undefined;
      return await signIn(key);
    } catch (error) {
      linkFault.value = wordsOf(error);
    }
  }
  await whoAmI();
}

// A link that is put into the address of an open tab loads nothing anew.
addEventListener('hashchange', () => void (location.hash.startsWith('#k=') ? enter() : undefined));

effect(() => {
  if (me.value === null) disconnect();
  else if (me.value !== undefined) goLive();
});

effect(() => {
  const count = openAsks.value;
  if ('setAppBadge' in navigator)
    void (count > 0 ? navigator.setAppBadge(count) : navigator.clearAppBadge()).catch(() => {});
});

setInterval(() => {
  if (!document.hidden) tick.value = Date.now();
}, 1_000);

applyTheme();
followLinks();
listenToKeys();
void enter();
const root = document.querySelector('#app');
if (root !== null) render(<App />, root);
installWorker();
