import { z } from 'zod';
import { processVideo } from '#server/pipeline/process-video.ts';
import type { ProcessVideoTask } from '#server/pipeline/worker-protocol.ts';

// Runs one task given as JSON and prints each message as a line, for tests that kill it half-way. With the name of a
// step it kills itself when that step begins, because some steps end before another process could do it.
const deadly = process.argv[3];
const task = z
  .custom<ProcessVideoTask>(
    (value) => z.object({ kind: z.literal('process-video') }).safeParse(value).success,
  )
  .parse(JSON.parse(process.argv[2] ?? ''));
await processVideo(task, {
  signal: new AbortController().signal,
  send: (message) => {
    const begins =
      message.type === 'steps' &&
      message.steps.some(({ step, state }) => step === deadly && state === 'running');
    if (begins) process.kill(process.pid, 'SIGKILL');
    process.stdout.write(`${JSON.stringify(message)}\n`);
  },
});
