import { describe } from 'vitest';
import { connectDatabase } from '#db/connection.ts';
import { createTestDatabase, ENGINES, hasEngine } from '#server/test/test-database.ts';
import path from 'node:path';
import { describeQueue } from './queue-contract.ts';
import { createTableQueue } from './table-queue.ts';

for (const engine of ENGINES) {
  describe.skipIf(!hasEngine(engine))(engine, () => {
    describeQueue(`table on ${engine}`, async () => {
      const { databaseUrl, dataDir, remove } = await createTestDatabase(engine);
      const db = connectDatabase({ databaseUrl, sqlitePath: path.join(dataDir, 'reelmend.sqlite') });
      return {
        db,
        make: (now) => createTableQueue({ db, now }),
        async close() {
          await db.destroy();
          await remove();
        },
      };
    });
  });
}
