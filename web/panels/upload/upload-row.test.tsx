import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import type { UploadItem } from '../../data/uploads/upload-items.ts';
import { makeVideo } from '../../test/samples.ts';
import { renderAt } from '../../test/render.tsx';
import { readingOf, UploadRow } from './upload-row.tsx';

const SIZE = 1000;

function item(change: Partial<UploadItem>): UploadItem {
  return {
    id: 1,
    file: new File([new Uint8Array(SIZE)], 'clip.mp4'),
    userId: 'user-1',
    batch: 1,
    origin: 'multi',
    state: 'uploading',
    acknowledgedBytes: 0,
    bytesPerSecond: null,
    videoId: null,
    knownName: null,
    anyway: false,
    reason: null,
    ...change,
  };
}

describe('readingOf', () => {
  it('never shows more than the server has acknowledged', () => {
    for (let acknowledgedBytes = 0; acknowledgedBytes <= SIZE; acknowledgedBytes += 1) {
      const { percent } = readingOf(item({ acknowledgedBytes }), undefined);
      expect(percent).toBeLessThanOrEqual((acknowledgedBytes / SIZE) * 100);
    }
  });

  it.each(['uploading', 'offline', 'paused', 'verifying', 'signed_out'] as const)(
    'stays below a hundred percent while %s, even with all bytes acknowledged',
    (state) => {
      expect(readingOf(item({ state, acknowledgedBytes: SIZE }), undefined).percent).toBe(99);
    },
  );

  it('says a hundred percent once the server has checked the file', () => {
    const sent = item({ state: 'sent', acknowledgedBytes: SIZE, videoId: 'v' });
    expect(readingOf(sent, undefined)).toEqual({ state: 'Queued', percent: 100, detail: '' });
    expect(readingOf(sent, makeVideo({ id: 'v' }))).toMatchObject({ state: 'Ready', percent: 100 });
  });

  it('offers the video of a known file, and to send it again', async () => {
    const known = item({ state: 'known', videoId: 'v1', knownName: 'pier.mp4' });
    const asked: string[] = [];
    const row = (
      <UploadRow item={known} video={makeVideo({ id: 'v1' })} onCommand={(name) => asked.push(name)} />
    );
    renderAt('/', <ul>{row}</ul>);
    expect(screen.getByText(/You have uploaded this file before: pier.mp4. Nothing was sent/)).toBeVisible();
    const link = screen.getByRole('link', { name: 'Open in the editor: clip.mp4' });
    expect(link).toHaveAttribute('href', '/editor/v1');
    await userEvent.click(screen.getByRole('button', { name: 'Upload it again' }));
    expect(asked).toEqual(['anyway']);
  });

  it('says what the server does with the file', () => {
    const sent = item({ state: 'sent', acknowledgedBytes: SIZE, videoId: 'v' });
    const working = makeVideo({ status: 'processing', currentStep: 'fixing_audio', progress: 37 });
    expect(readingOf(sent, working)).toEqual({
      state: 'Processing',
      percent: 37,
      detail: 'Repairing audio sync...',
    });
    const failed = makeVideo({ status: 'failed', errorMessage: 'The picture data are missing.' });
    expect(readingOf(sent, failed)).toMatchObject({
      state: 'Failed',
      detail: 'The picture data are missing.',
    });
  });

  it('says why a file has to wait, before its place in the queue', () => {
    const sent = item({ state: 'sent', acknowledgedBytes: SIZE, videoId: 'v' });
    const held = { status: 'processing', currentStep: null, queuePosition: 0 } as const;
    expect(readingOf(sent, makeVideo({ ...held, errorMessage: 'There is no room left.' }))).toEqual({
      state: 'Queued',
      percent: 0,
      detail: 'There is no room left.',
    });
  });
});
