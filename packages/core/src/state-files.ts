/** The small files of a hub that all of its nodes share: keys and revocations, keys of URLs and of push, service levels. */
export const STATE_FILES = [
  'auth.json',
  'artifact-keys.json',
  'push.json',
  'slo.json',
  'nodes.json',
] as const;
export type StateFileName = (typeof STATE_FILES)[number];

/** A state file as it was found; the revision changes with every change of it. */
export interface StateFile {
  revision: string;
  text: string | undefined;
}

/** Keeps them where the record is. */
export interface StateFiles {
  /** Others may change them too, unseen until `fresh`. */
  readonly shared: boolean;
  /** A file as it is; where it is shared, as the last look found it. */
  look(name: StateFileName): StateFile;
  /** Settles once `look` shows whatever was changed before this call; undefined where it always does. */
  fresh(): Promise<void> | undefined;
  /**
   * Puts another text in the place of a file, made from the one that stands; nothing is written when that throws, or gives
   * the same. It is made anew where somebody else was faster.
   */
  change(
    name: StateFileName,
    next: (text: string | undefined) => string | undefined | Promise<string | undefined>,
  ): Promise<void>;
  close(): Promise<void>;
}
