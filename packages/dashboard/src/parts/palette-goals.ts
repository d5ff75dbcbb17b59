import { control, maySteer, prod, setStatus, threadOf, wake } from '../data/actions.ts';
import { fleet, threads } from '../data/state.ts';
import { overlay } from '../keys.ts';
import { go, place } from '../router.ts';
import { setTheme } from '../theme.ts';
import { copy } from './code-line.tsx';
import type { IconName } from './icon.tsx';
import { PLACES } from './nav.tsx';

/** Something to go to, or to do. */
export interface Goal {
  key: string;
  label: string;
  what: string;
  icon?: IconName;
  /** Whose sign stands before it. */
  name?: string;
  run: () => void;
}

const goTo = (path: string, label: string, what: string, icon: IconName): Goal => ({
  key: path,
  label,
  what,
  icon,
  run: () => go(path),
});

export const pageGoals = (): Goal[] => [
  ...PLACES.map(({ path, word, icon }) => goTo(path, word, 'page', icon)),
  goTo('/usage', 'Usage', 'page', 'timeline'),
];

export const agentGoals = (): Goal[] =>
  fleet.value.map(({ agent_id }) => ({
    key: `agent ${agent_id}`,
    label: agent_id,
    what: 'agent',
    name: agent_id,
    run: () => go(`/agents/${encodeURIComponent(agent_id)}`),
  }));

export const threadGoal = ({ thread_id, title }: { thread_id: string; title: string }): Goal =>
  goTo(`/t/${thread_id}`, title, 'thread', 'threads');

export const documentGoal = ({ document_id, title }: { document_id: string; title: string }): Goal =>
  goTo(`/know/${document_id}`, title, 'document', 'page');

/** What can be done from anywhere, and with what is before the person. */
export function actionGoals(): Goal[] {
  const act = (label: string, icon: IconName, run: () => void): Goal => ({
    key: `do ${label}`,
    label,
    what: 'action',
    icon,
    run,
  });
  const { page, params } = place.value;
  const thread = page === 'thread' ? threads.value?.get(params[0] ?? '') : undefined;
  const here =
    thread === undefined
      ? []
      : [
          ...(maySteer() && (thread.status === 'active' || thread.status === 'blocked')
            ? [
                act(
                  'Resolve this thread',
                  'check',
                  () => void setStatus(thread.thread_id, 'resolved', 'resolved by a person'),
                ),
                act(
                  thread.paused === true ? 'Let this thread go on' : 'Pause this thread',
                  'pause',
                  () =>
                    void control(
                      thread.thread_id,
                      { pause: { on: thread.paused !== true } },
                      thread.paused === true ? 'The thread goes on.' : 'Paused: only people may post.',
                    ),
                ),
              ]
            : []),
          act(
            'Copy the link to this thread',
            'copy',
            () => void copy(`${location.origin}/t/${thread.thread_id}`),
          ),
        ];
  const agents = maySteer()
    ? fleet.value.flatMap(({ agent_id }) =>
        threadOf(agent_id) === undefined
          ? []
          : [
              act(`Prod ${agent_id}`, 'bolt', () => void prod(agent_id)),
              act(`Wake ${agent_id}`, 'bell', () => void wake(agent_id)),
            ],
      )
    : [];
  return [
    ...here,
    ...(maySteer()
      ? [
          act('New thread', 'plus', () => go('/threads?new=yes')),
          act('New document', 'plus', () => go('/know/new')),
        ]
      : []),
    act('Unread threads', 'threads', () => go('/threads?f=unread')),
    act('What failed', 'warn', () => go('/log?f=failed')),
    act('Light appearance', 'now', () => setTheme('light')),
    act('Dark appearance', 'now', () => setTheme('dark')),
    act('Appearance of this device', 'device', () => setTheme('auto')),
    act('List of keys', 'info', () => (overlay.value = 'keys')),
    ...agents,
  ];
}
