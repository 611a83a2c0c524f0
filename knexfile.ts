import { databaseOptions } from './db/connection.ts';

// For the knex command line only; the server migrates by itself at start.
export default databaseOptions({
  databaseUrl: process.env.DATABASE_URL ?? null,
  sqlitePath: `${process.env.DATA_DIR ?? './data'}/reelmend.sqlite`,
});
