export {
  type CursorColumns,
  damaged,
  damagedEntry,
  damagedIndex,
  isIndexDamage,
  readRecord,
  type RecordColumns,
  rowSum,
  sumOfCursor,
  sumOfHead,
  sumOfRecord,
  sumOfThread,
  type HeadColumns,
  type ThreadColumns,
} from './row-sum.ts';
export { checkedEntry, checkedRun, type LinkedRow } from './chained-rows.ts';
export { createDerivedCheck, DERIVED_AND_TEXTS, type LiveRecord, type RecordName } from './check-derived.ts';
export { FairQueue } from './fair-queue.ts';
export type { CopiedEntry, CopiedKey, CopiedThread, RecordSource, RecordTarget } from './record-copy.ts';
export { exportedRecord } from './exported-record.ts';
export { emptyReport, type Reached, type RecordReport } from './record-report.ts';
export { snippet } from './snippet.ts';
export { packAnswer, unpackAnswer } from './stored-answer.ts';
