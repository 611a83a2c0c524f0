import { screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse } from 'msw';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { comparisonApi, type ComparisonDto } from '#common/api/comparison.ts';
import { renderAt } from '../test/render.tsx';
import { makeVideo } from '../test/samples.ts';
import { on, refusal, server } from '../test/server.ts';
import { ComparisonPanel } from './comparison-panel.tsx';

const person = userEvent.setup({ delay: null });
const EMPTY: ComparisonDto = { state: 'absent', progress: 0, message: null, url: null, layout: null };
const LAYOUT: NonNullable<ComparisonDto['layout']> = {
  width: 320,
  height: 180,
  frameRate: 30,
  durationMs: 2200,
  hasSound: false,
  places: [
    {
      defectId: 'a',
      kind: 'dropped_frames',
      startMs: 4000,
      endMs: 4200,
      previewStartMs: 1000,
      previewEndMs: 1200,
    },
  ],
  pieces: [
    {
      originalStartMs: 3000,
      originalEndMs: 5200,
      resultStartMs: 3000,
      resultEndMs: 5200,
      previewStartMs: 0,
      previewEndMs: 2200,
    },
  ],
  leftOut: 0,
};

beforeEach(() => {
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockReturnValue(null);
});

function open(answers: readonly ComparisonDto[]) {
  const wishes: string[] = [];
  let reads = 0;
  server.use(
    on(comparisonApi.read, () => HttpResponse.json(answers[Math.min(reads++, answers.length - 1)])),
    on(comparisonApi.make, () => {
      wishes.push('make');
      return HttpResponse.json({ ...EMPTY, state: 'waiting' });
    }),
  );
  renderAt('/', <ComparisonPanel video={makeVideo({ id: 'v1' })} defects={[]} />);
  return wishes;
}

describe('ComparisonPanel', () => {
  it('requests the comparison, shows its measured progress and then the comparison', async () => {
    const wishes = open([
      EMPTY,
      { ...EMPTY, state: 'making', progress: 42 },
      { ...EMPTY, state: 'ready', progress: 100, url: '/api/videos/v1/comparison.mp4?of=x', layout: LAYOUT },
    ]);
    expect(await screen.findByText('The comparison waits for its turn.')).toBeInTheDocument();
    expect(await screen.findByText('The comparison is being made, 42 percent')).toBeInTheDocument();
    expect(screen.getByRole('progressbar')).toHaveAttribute('aria-valuenow', '42');
    expect(await screen.findByText('Place 1 of 1')).toBeInTheDocument();
    expect(document.querySelector('video')).toHaveAttribute('src', '/api/videos/v1/comparison.mp4?of=x');
    await waitFor(() => expect(wishes).toEqual(['make']));
  });

  it('says why it failed and requests it again on Retry', async () => {
    const message = 'The original cannot be played, so there is nothing to compare the result with.';
    const wishes = open([{ ...EMPTY, state: 'failed', message }]);
    expect(await screen.findByText(message)).toBeInTheDocument();
    expect(wishes).toEqual([]);
    await person.click(screen.getByRole('button', { name: 'Retry' }));
    expect(await screen.findByText('The comparison waits for its turn.')).toBeInTheDocument();
    await waitFor(() => expect(wishes).toEqual(['make']));
  });

  it('says when its state cannot be read', async () => {
    server.use(on(comparisonApi.read, () => refusal('internal')));
    renderAt('/', <ComparisonPanel video={makeVideo({ id: 'v1' })} defects={[]} />);
    expect(await screen.findByText('The comparison could not be loaded.')).toBeInTheDocument();
  });
});
