export { type FileLock, isFileLocked, lockFile } from './lock-file.ts';
export {
  type DatabaseSync,
  SQLITE_FULL,
  sqliteCode,
  sqliteModule,
  sqliteVersion,
  type StatementSync,
} from './sqlite.ts';
