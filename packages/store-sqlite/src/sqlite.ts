export {
  type DatabaseSync,
  oneRow,
  rowsOf,
  SQLITE_BUSY,
  SQLITE_FULL,
  SQLITE_IOERR,
  SQLITE_PROTOCOL,
  sqliteCode,
  sqliteModule,
  sqliteVersion,
  type StatementSync,
} from '@parley/sqlite';
