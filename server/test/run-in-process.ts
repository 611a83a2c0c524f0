import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { inject } from 'vitest';
import type { ProcessingStepId } from '#common/video.ts';
import {
  workerMessage,
  type ProcessVideoTask,
  type WorkerMessage,
} from '#server/pipeline/worker-protocol.ts';

/**
 * Runs a task in a separate Node process and kills it with SIGKILL as soon as `until` returns true, or at the very
 * beginning of the step `deadly`.
 * @returns all messages that came before the end, and whether the process was killed
 */
export async function runInProcess(
  task: ProcessVideoTask,
  until: (message: WorkerMessage) => boolean,
  deadly?: ProcessingStepId,
): Promise<{ messages: WorkerMessage[]; killed: boolean }> {
  const script = path.join(inject('builtServer'), 'process-clip.js');
  const child = spawn(process.execPath, [script, JSON.stringify(task), deadly ?? ''], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const messages: WorkerMessage[] = [];
  let killed = false;
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  for await (const line of createInterface({ input: child.stdout })) {
    const parsed = workerMessage.safeParse(JSON.parse(line));
    if (!parsed.success || killed) continue;
    messages.push(parsed.data);
    if (until(parsed.data)) {
      killed = true;
      child.kill('SIGKILL');
    }
  }
  await ended;
  return { messages, killed: killed || child.signalCode === 'SIGKILL' };
}
