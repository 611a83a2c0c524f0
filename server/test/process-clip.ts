import { z } from 'zod';
import { processVideo } from '#server/pipeline/process-video.ts';
import type { ProcessVideoTask } from '#server/pipeline/worker-protocol.ts';

// Runs one task given as JSON and prints each message as a line, for tests that kill it half-way.
const task = z
  .custom<ProcessVideoTask>(
    (value) => z.object({ kind: z.literal('process-video') }).safeParse(value).success,
  )
  .parse(JSON.parse(process.argv[2] ?? ''));
await processVideo(task, {
  signal: new AbortController().signal,
  send: (message) => process.stdout.write(`${JSON.stringify(message)}\n`),
});
