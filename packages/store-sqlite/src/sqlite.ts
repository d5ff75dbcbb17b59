export {
  type DatabaseSync,
  SQLITE_FULL,
  sqliteCode,
  sqliteModule,
  sqliteVersion,
  type StatementSync,
} from '@parley/sqlite';
