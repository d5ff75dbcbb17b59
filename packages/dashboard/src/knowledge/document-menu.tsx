import { useState } from 'preact/hooks';

import { attempt, maySteer } from '../data/actions.ts';
import { call, newKey } from '../data/api.ts';
import { copy } from '../parts/code-line.tsx';
import { Icon, type IconName } from '../parts/icon.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { say } from '../parts/toast.tsx';
import { go } from '../router.ts';
import type { Opened } from './document-data.ts';
import { MoveSheet } from './move-sheet.tsx';

/** What a person can do with a document as a whole. */
export function DocumentMenu({ opened, onClose }: { opened: Opened; onClose: () => void }) {
  const { document } = opened;
  const { document_id, metadata } = document;
  const [step, next] = useState<'choose' | 'move' | 'delete'>('choose');
  if (step === 'move') return <MoveSheet document={document} onClose={onClose} />;
  if (step === 'delete') return <DeleteSheet opened={opened} onClose={onClose} />;
  const item = (icon: IconName, label: string, note: string, run: () => void) => (
    <button type="button" class="choice choice-icon" onClick={run}>
      <Icon name={icon} />
      <strong>{label}</strong>
      <span>{note}</span>
    </button>
  );
  const then = (path: string) => () => {
    onClose();
    go(path);
  };
  return (
    <Sheet title={metadata.title} onClose={onClose}>
      <div class="choices">
        {maySteer()
          ? item('plus', 'New document below', 'Goes below this one', then(`/know/new?under=${document_id}`))
          : null}
        {item(
          'log',
          'History',
          'Every change, who made it, and a way back',
          then(`/know/${document_id}/history`),
        )}
        {maySteer()
          ? item('side', 'Move', 'Under another document, or to another place', () => next('move'))
          : null}
        {item('copy', 'Copy link', 'To this document', () => {
          onClose();
          void copy(`${location.origin}/know/${document_id}`);
        })}
        {item(
          'trash',
          'Deleted documents below',
          'You can restore them for 90 days',
          then(`/know/deleted?under=${document_id}`),
        )}
        {maySteer()
          ? item('cross', 'Delete', 'With all below it. You can restore it for 90 days', () => next('delete'))
          : null}
      </div>
    </Sheet>
  );
}

function DeleteSheet({ opened, onClose }: { opened: Opened; onClose: () => void }) {
  const { document_id, metadata, parent_id } = opened.document;
  const [reason, write] = useState('');
  return (
    <Sheet title={`Delete ${metadata.title}?`} onClose={onClose}>
      <p>It is deleted with all below it. You can restore it for 90 days; then it is gone for good.</p>
      <form
        class="reason"
        onSubmit={(event) => {
          event.preventDefault();
          onClose();
          void attempt(async () => {
            await call('delete_document', {
              document_id,
              ...(reason.trim() === '' ? {} : { reason: reason.trim() }),
              idempotency_key: newKey(),
            });
            say(`Deleted ${metadata.title}.`);
            go(parent_id === 'root' ? '/know/deleted' : `/know/deleted?under=${parent_id}`, 'replace');
          });
        }}
      >
        <label class="field">
          <span>Why, for the record</span>
          <input value={reason} maxLength={500} onInput={(event) => write(event.currentTarget.value)} />
        </label>
        <button type="submit" class="button-danger button-wide">
          Delete
        </button>
      </form>
    </Sheet>
  );
}
