import { errorCode, errorText, fieldsOf } from '@parley/protocol';

const WORDS: Readonly<Record<string, string>> = {
  EACCES: 'may not be opened by you',
  EEXIST: 'is there already',
  EISDIR: 'is a folder, where a file is needed',
  ENOENT: 'is not there',
  ENOTDIR: 'is no folder',
  EPERM: 'may not be changed by you',
  EROFS: 'lies on a disk that cannot be written',
};

/** What the system refused, in words; of everything else what it says itself. `named` is what it was asked for. */
export function systemWords(error: unknown, named = 'what was named'): string {
  const words = WORDS[errorCode(error) ?? ''];
  const { syscall, path } = fieldsOf(error);
  if (words === undefined || typeof syscall !== 'string') return errorText(error);
  return `${typeof path === 'string' ? path : named} ${words}`;
}
