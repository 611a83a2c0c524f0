import type { MessagePort } from 'node:worker_threads';
import { mendNoticed } from './mend-noticed.ts';
import { processVideo } from './process-video.ts';
import { applyFixes } from './repair/quick-fixes/apply-fixes.ts';
import type {
  ApplyFixesResult,
  ApplyFixesTask,
  CancelMessage,
  FixesMessage,
  ProcessVideoResult,
  ProcessVideoTask,
  WorkerMessage,
} from './worker-protocol.ts';

export interface WorkerRequest {
  readonly task: ProcessVideoTask | ApplyFixesTask;
  /** Other end of the channel: progress goes out, a cancel comes in. */
  readonly port: MessagePort;
}

/**
 * Entry of the media threads. On a cancel, the thread ends its own ffmpeg child and the task RETURNS `cancelled`;
 * aborting the thread from outside would leave that child running.
 */
export default async function runTask({
  task,
  port,
}: WorkerRequest): Promise<ProcessVideoResult | ApplyFixesResult> {
  const cancel = new AbortController();
  port.on('message', (message: CancelMessage) => {
    if (message.type === 'cancel') cancel.abort();
  });
  const io = {
    signal: cancel.signal,
    send: (message: WorkerMessage | FixesMessage) => port.postMessage(message),
  };
  try {
    if (task.kind === 'process-video') return await processVideo(task, io);
    return await (task.noticed ? mendNoticed(task, task.noticed, io) : applyFixes(task, io));
  } finally {
    port.close();
  }
}
