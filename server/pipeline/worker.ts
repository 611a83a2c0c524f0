import type { MessagePort } from 'node:worker_threads';
import { processVideo } from './process-video.ts';
import type {
  CancelMessage,
  ProcessVideoResult,
  ProcessVideoTask,
  WorkerMessage,
} from './worker-protocol.ts';

export interface WorkerRequest {
  readonly task: ProcessVideoTask;
  /** Other end of the channel: progress goes out, a cancel comes in. */
  readonly port: MessagePort;
}

/**
 * Entry of the media threads. A cancel ends the thread's own ffmpeg child and the task then RETURNS
 * `cancelled`: aborting the thread from outside would leave that child running.
 */
export default async function runTask({ task, port }: WorkerRequest): Promise<ProcessVideoResult> {
  const cancel = new AbortController();
  port.on('message', (message: CancelMessage) => {
    if (message.type === 'cancel') cancel.abort();
  });
  try {
    return await processVideo(task, {
      signal: cancel.signal,
      send: (message: WorkerMessage) => port.postMessage(message),
    });
  } finally {
    port.close();
  }
}
