import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { FixRunDto } from '#common/api/quick-fixes.ts';
import type { StatusDto } from '#common/api/videos.ts';
import { createEventBus, type EventBus } from '../events.ts';
import { createLogger } from '../logger.ts';
import { forwardEvents } from './forward-events.ts';
import type { Push } from './socket-server.ts';

const RUN: FixRunDto = {
  jobId: 'j',
  state: 'working',
  progress: 12,
  fixes: [],
  sourceVersionId: null,
  resultVersionId: null,
  remainingSeconds: null,
  message: null,
  revision: 3,
};
const FACT = { userId: 'u', videoId: 'v' };

describe('forwardEvents', () => {
  let events: EventBus;
  let sent: { to: string; name: string; payload: unknown; droppable: boolean }[];
  let status: StatusDto;
  let stop: () => void;

  beforeEach(() => {
    vi.useFakeTimers();
    events = createEventBus();
    sent = [];
    status = {
      id: 'v',
      status: 'processing',
      progress: 0,
      currentStep: 'analyzing',
      estimatedTimeRemaining: null,
      errorMessage: null,
      errorCode: null,
      queuePosition: null,
      steps: [],
      version: 1,
      updatedAt: '2026-01-01T00:00:00.000Z',
    };
    const push: Push = {
      toUser: (to, name, payload, droppable = false) => void sent.push({ to, name, payload, droppable }),
      toAll: (name, payload) => void sent.push({ to: 'all', name, payload, droppable: true }),
    };
    const statusOf = async (videoId: string) => (videoId === 'v' ? { userId: 'u', status } : null);
    const fixesOf = async (videoId: string) => (videoId === 'v' ? { userId: 'u', run: RUN } : null);
    stop = forwardEvents({ events, push, statusOf, fixesOf, logger: createLogger('silent') });
  });
  afterEach(() => {
    stop();
    vi.useRealTimers();
  });
  const named = (name: string) => sent.filter((one) => one.name === name);

  it('sends progress at once, then at most four times a second, and always the last state', async () => {
    for (let progress = 1; progress <= 100; progress += 1) {
      status = { ...status, progress, version: progress };
      events.emit('video.changed', FACT);
      await vi.advanceTimersByTimeAsync(10);
    }
    await vi.advanceTimersByTimeAsync(1000);
    const pushed = named('video:status').map(({ payload }) => payload);
    expect(pushed.length).toBeGreaterThanOrEqual(4);
    expect(pushed.length).toBeLessThanOrEqual(6);
    expect(pushed[0]).toMatchObject({ progress: 1 });
    expect(pushed.at(-1)).toMatchObject({ progress: 100 });
  });

  it('sends the state of a video’s quick fixes only to its owner', async () => {
    events.emit('fixes.changed', { videoId: 'v' });
    events.emit('fixes.changed', { videoId: 'gone' });
    await vi.advanceTimersByTimeAsync(1000);
    expect(named('fixes:status')).toEqual([
      { to: 'u', name: 'fixes:status', payload: { id: 'v', run: RUN }, droppable: false },
    ]);
  });

  it('lets progress be dropped for a slow reader, but never an end', async () => {
    events.emit('video.changed', FACT);
    await vi.advanceTimersByTimeAsync(0);
    status = { ...status, status: 'completed', version: 2 };
    events.emit('video.completed', FACT);
    await vi.advanceTimersByTimeAsync(0);
    expect(named('video:status').map(({ droppable }) => droppable)).toEqual([true, false]);
    expect(named('videos:changed')).toHaveLength(1);
    expect(named('stats:changed')).toHaveLength(1);
  });

  it('sends nothing about a deleted video', async () => {
    events.emit('video.changed', { userId: 'u', videoId: 'gone' });
    await vi.advanceTimersByTimeAsync(300);
    expect(sent).toEqual([]);
  });

  it('combines a storm of votes into four hints a second', async () => {
    for (let count = 0; count < 200; count += 1) {
      events.emit('idea.changed', { ideaId: 'i' });
      await vi.advanceTimersByTimeAsync(5);
    }
    await vi.advanceTimersByTimeAsync(500);
    expect(named('ideas:changed').length).toBeLessThanOrEqual(6);
    expect(named('ideas:changed').every(({ to }) => to === 'all')).toBe(true);
  });

  it('tells the owner that captions were saved', () => {
    events.emit('captions.saved', FACT);
    expect(named('captions:changed')).toMatchObject([{ to: 'u', payload: { id: 'v' } }]);
  });

  it('is silent after it was stopped', async () => {
    events.emit('video.changed', FACT);
    stop();
    events.emit('draft.changed', { userId: 'u', draftId: null });
    await vi.advanceTimersByTimeAsync(1000);
    expect(named('drafts:changed')).toEqual([]);
  });
});
