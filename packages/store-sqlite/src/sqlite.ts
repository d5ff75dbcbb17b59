export {
  type DatabaseSync,
  SQLITE_BUSY,
  SQLITE_FULL,
  SQLITE_PROTOCOL,
  sqliteCode,
  sqliteModule,
  sqliteVersion,
  type StatementSync,
} from '@parley/sqlite';
