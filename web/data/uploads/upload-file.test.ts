import { HttpResponse } from 'msw';
import { describe, expect, it, vi } from 'vitest';
import { uploadsApi } from '#common/api/uploads.ts';
import { on, refusal, server } from '../../test/server.ts';
import { ApiError } from '../api-client.ts';
import {
  RETRY_DELAYS_MS,
  startTransfer,
  type TransferDependencies,
  type TransferPhase,
} from './upload-file.ts';
import { ChunkRefused, type SendRequest } from './upload-transport.ts';

const file = new File([new Uint8Array(1000)], 'harbour.mp4', { type: 'video/mp4' });

/** Simulates the server: each function of `attempts` is one try to send, and may fail. */
function run(
  attempts: ((request: SendRequest) => void | Promise<void>)[],
  more: Partial<TransferDependencies> = {},
) {
  const phases: TransferPhase[] = [];
  const waits: number[] = [];
  const offsets: number[] = [];
  const sent: SendRequest[] = [];
  const transfer = startTransfer(
    file,
    {
      onPhase: (phase) => phases.push(phase),
      onAcknowledged: (bytes) => offsets.push(bytes),
      onSent: () => undefined,
    },
    {
      send: async (request) => {
        sent.push(request);
        await attempts[sent.length - 1]?.(request);
      },
      wait: async (ms) => {
        waits.push(ms);
      },
      ...more,
    },
  );
  return { transfer, phases, waits, offsets, sent };
}

const lost = (): never => {
  throw new TypeError('The connection was lost.');
};

function allowUpload(calls: string[] = [], offsetBytes = 0) {
  server.use(
    on(uploadsApi.uploadUrl, async (request) => {
      calls.push(`upload-url ${JSON.stringify(await request.json())}`);
      return HttpResponse.json({ uploadUrl: '/uploads/token-1', offsetBytes });
    }),
    on(uploadsApi.uploadComplete, async (request) => {
      calls.push(`upload-complete ${JSON.stringify(await request.json())}`);
      return HttpResponse.json({ videoId: 'video-1' });
    }),
  );
}

describe('startTransfer', () => {
  it('requests an address, sends the file there, then completes, in this order', async () => {
    const calls: string[] = [];
    allowUpload(calls);
    const { transfer, phases, sent } = run([(request) => request.onAcknowledged(1000)]);
    expect(await transfer.result).toEqual({ kind: 'done', videoId: 'video-1' });
    expect(sent[0]?.url).toBe('http://localhost:3000/uploads/token-1');
    expect(calls[0]).toMatch(
      /^upload-url \{"fileName":"harbour.mp4","fileSize":1000,"fileType":"video\/mp4","fingerprint":"[0-9a-f]{64}","tellKnown":true\}$/,
    );
    // The size is sent as a string (specification section 7).
    expect(calls[1]).toBe(
      'upload-complete {"fileName":"harbour.mp4","fileSize":"1000","uploadUrl":"/uploads/token-1"}',
    );
    expect(phases).toEqual(['uploading', 'verifying']);
  });

  it('starts from the bytes that the server already has', async () => {
    allowUpload([], 400);
    const { transfer, offsets } = run([() => undefined]);
    await transfer.result;
    expect(offsets[0]).toBe(400);
  });

  it('continues at the same address after lost connections, waiting longer each time', async () => {
    const calls: string[] = [];
    allowUpload(calls);
    const { transfer, waits, sent, phases } = run([lost, lost, lost, () => undefined]);
    expect(await transfer.result).toMatchObject({ kind: 'done' });
    expect(waits).toEqual([500, 1000, 2000]);
    expect(new Set(sent.map(({ url }) => url)).size).toBe(1);
    expect(calls.filter((call) => call.startsWith('upload-url'))).toHaveLength(1);
    expect(phases).toContain('offline');
  });

  it.each([
    ['the network fails', () => HttpResponse.error()],
    ['too many uploads are open', () => refusal('rate_limited')],
  ])('says that it failed when no address is given because %s', async (_name, answer) => {
    let asked = 0;
    server.use(
      on(uploadsApi.uploadUrl, () => {
        asked += 1;
        return answer();
      }),
    );
    const { transfer, waits } = run([]);
    expect(await transfer.result).toMatchObject({ kind: 'failed', fileUnreadable: false });
    expect([asked, waits]).toEqual([3, [500, 1000]]);
  });

  it('waits for a network before it requests an address', async () => {
    const onLine = vi.spyOn(navigator, 'onLine', 'get').mockReturnValue(false);
    let asked = 0;
    server.use(
      on(uploadsApi.uploadUrl, () => {
        asked += 1;
        return asked < 6 ? HttpResponse.error() : HttpResponse.json({ uploadUrl: '/uploads/token-1' });
      }),
      on(uploadsApi.uploadComplete, () => HttpResponse.json({ videoId: 'video-1' })),
    );
    expect(await run([() => undefined]).transfer.result).toMatchObject({ kind: 'done' });
    onLine.mockRestore();
  });

  it('says at once that the network is gone, and that bytes move again', async () => {
    allowUpload();
    const { transfer, phases } = run([
      (request) => {
        window.dispatchEvent(new Event('offline'));
        request.onSent(10);
      },
    ]);
    await transfer.result;
    expect(phases).toEqual(['uploading', 'offline', 'uploading', 'verifying']);
  });

  it('sends again when a network came up while a request was hanging', async () => {
    const calls: string[] = [];
    allowUpload(calls);
    const hangs = ({ signal }: SendRequest): Promise<void> =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        window.dispatchEvent(new Event('online'));
      });
    const { transfer, sent, waits } = run([hangs, () => undefined]);
    expect(await transfer.result).toMatchObject({ kind: 'done' });
    expect([sent.length, waits]).toEqual([2, [500]]);
    expect(calls.filter((call) => call.startsWith('upload-url'))).toHaveLength(1);
  });

  it('restarts the waiting times once bytes have arrived', async () => {
    allowUpload();
    const progress = (request: SendRequest): void => {
      request.onAcknowledged(500);
      lost();
    };
    const { transfer, waits } = run([lost, lost, progress, () => undefined]);
    await transfer.result;
    expect(waits).toEqual([500, 1000, 500]);
  });

  it('never gives up while the page is open: the longest wait repeats', async () => {
    allowUpload();
    const { transfer, waits } = run([...Array.from({ length: 12 }, () => lost), () => undefined]);
    await transfer.result;
    expect(waits.slice(-5)).toEqual([30_000, 30_000, 30_000, 30_000, 30_000]);
    expect(waits.slice(0, 7)).toEqual([...RETRY_DELAYS_MS]);
  });

  it('completes again when the answer to the completion was lost', async () => {
    allowUpload();
    let completions = 0;
    server.use(
      on(uploadsApi.uploadComplete, () => {
        completions += 1;
        return completions === 1 ? HttpResponse.error() : HttpResponse.json({ videoId: 'video-1' });
      }),
    );
    const { transfer } = run([]);
    expect(await transfer.result).toEqual({ kind: 'done', videoId: 'video-1' });
    expect(completions).toBe(2);
  });

  it('sends nothing while paused and continues when resumed', async () => {
    allowUpload();
    const { transfer, sent, phases } = run([
      (request) =>
        new Promise((_resolve, reject) => {
          request.onAcknowledged(300);
          request.signal.addEventListener('abort', () => reject(request.signal.reason));
        }),
      () => undefined,
    ]);
    await expect.poll(() => sent.length).toBe(1);
    transfer.pause();
    await expect.poll(() => phases.at(-1)).toBe('paused');
    expect(sent).toHaveLength(1);
    transfer.resume();
    expect(await transfer.result).toMatchObject({ kind: 'done' });
    expect(sent).toHaveLength(2);
  });

  it('ends at once when cancelled, also while paused', async () => {
    allowUpload();
    const { transfer, sent, phases } = run([
      (request) =>
        new Promise((_resolve, reject) => {
          request.signal.addEventListener('abort', () => reject(request.signal.reason));
        }),
    ]);
    await expect.poll(() => sent.length).toBe(1);
    transfer.pause();
    await expect.poll(() => phases.at(-1)).toBe('paused');
    transfer.cancel();
    expect(await transfer.result).toEqual({ kind: 'cancelled' });
  });

  it("fails with the server's own sentence when the plan is used up", async () => {
    server.use(on(uploadsApi.uploadUrl, () => refusal('quota_reached', '5 of 5 videos are used.')));
    const { transfer, waits } = run([]);
    expect(await transfer.result).toEqual({
      kind: 'failed',
      reason: '5 of 5 videos are used.',
      fileUnreadable: false,
    });
    expect(waits).toEqual([]);
  });

  it('requests a new address when the server has dropped the upload', async () => {
    const calls: string[] = [];
    allowUpload(calls);
    const { transfer } = run([
      () => {
        throw new ApiError(410, 'Gone', '');
      },
      () => undefined,
    ]);
    expect(await transfer.result).toMatchObject({ kind: 'done' });
    expect(calls.filter((call) => call.startsWith('upload-url'))).toHaveLength(2);
  });

  it('sends the file whole when PATCH is refused on the way', async () => {
    allowUpload();
    const whole: string[] = [];
    const { transfer } = run(
      [
        () => {
          throw new ApiError(405, 'Method Not Allowed', '');
        },
      ],
      {
        sendWhole: async ({ url }) => {
          whole.push(url);
        },
      },
    );
    expect(await transfer.result).toMatchObject({ kind: 'done' });
    expect(whole).toEqual(['http://localhost:3000/uploads/token-1']);
  });

  it('sends smaller chunks when a proxy finds them too large, at once and at the same address', async () => {
    const calls: string[] = [];
    allowUpload(calls);
    const tooLarge = (bytes: number) => () => {
      throw new ChunkRefused(413, '<h1>Request Entity Too Large</h1>', bytes);
    };
    const { transfer, sent, waits } = run([tooLarge(8_000_000), tooLarge(4_000_000), () => undefined]);
    expect(await transfer.result).toMatchObject({ kind: 'done' });
    expect(sent.map(({ mostChunkBytes }) => mostChunkBytes)).toEqual([8 * 1024 ** 2, 4_000_000, 2_000_000]);
    expect(waits).toEqual([]);
    expect(calls.filter((call) => call.startsWith('upload-url'))).toHaveLength(1);
  });

  it('says with which status a proxy refused, but not when our server did', async () => {
    allowUpload();
    const by = (error: ApiError) =>
      run([
        () => {
          throw error;
        },
      ]).transfer.result;
    expect(await by(new ChunkRefused(413, '<h1>No</h1>', 16 * 1024))).toMatchObject({ foreignStatus: 413 });
    expect(await by(new ApiError(403, 'Forbidden', '<html>blocked</html>'))).toMatchObject({
      kind: 'failed',
      foreignStatus: 403,
    });
    const ours = JSON.stringify({ code: 'too_large', message: 'It is too large.', requestId: 'r' });
    const answer = await by(new ApiError(413, '', ours));
    expect(answer).toMatchObject({ kind: 'failed', reason: 'It is too large.' });
    expect(answer).not.toHaveProperty('foreignStatus');
  });

  it('says so when the file cannot be read any more', async () => {
    allowUpload();
    const moved = new File([new Uint8Array(10)], 'moved.mp4');
    moved.slice = () => {
      const part = new Blob();
      part.arrayBuffer = () => Promise.reject(new DOMException('gone', 'NotReadableError'));
      return part;
    };
    const transfer = startTransfer(
      moved,
      { onPhase: () => undefined, onAcknowledged: () => undefined, onSent: () => undefined },
      { send: async () => lost(), wait: async () => undefined },
    );
    expect(await transfer.result).toMatchObject({ kind: 'failed', fileUnreadable: true });
  });
});
