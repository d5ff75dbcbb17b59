import { fieldsOf } from '@parley/protocol';
import type { ConfigFile } from './config-file.ts';
import { type JsonText, readJsonText } from './json-text.ts';

/** Changes our part of a file so that it can be put back; false where there was nothing to change. */
export async function changeConfig(file: ConfigFile, change: (text: JsonText) => JsonText): Promise<boolean> {
  const before = file.read();
  const { text } = change(readJsonText(before, file.path));
  if (text === before) return false;
  await file.change(() => file.write(text));
  return true;
}

/** Takes our part out of a file: to the byte where nobody else has changed it, else in place; false where there was none. */
export function undoConfig(file: ConfigFile, change: (text: JsonText) => JsonText): boolean {
  const before = file.read();
  const after = change(readJsonText(before, file.path));
  const isOurs = after.text !== before;
  if (isOurs && file.restore()) return true;
  const isEmpty = Object.keys(fieldsOf(after.get([]))).length === 0;
  if (isOurs && isEmpty && !file.existed) file.remove();
  else if (isOurs) file.write(after.text);
  file.forget();
  return isOurs;
}
