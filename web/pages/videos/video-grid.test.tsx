import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { useCallback, useState } from 'react';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { VideoDto } from '#common/api/videos.ts';
import { renderAt } from '../../test/render.tsx';
import { makeVideo } from '../../test/samples.ts';
import { toRows, VideoGrid } from './video-grid.tsx';

const drawn = vi.hoisted((): { ids: string[] } => ({ ids: [] }));
vi.mock('./issue-summary.tsx', () => ({
  IssueSummary({ video }: { video: VideoDto }) {
    drawn.ids.push(video.id);
    return null;
  },
}));

beforeEach(() => {
  vi.spyOn(Element.prototype, 'clientHeight', 'get').mockReturnValue(800);
  vi.spyOn(Element.prototype, 'clientWidth', 'get').mockReturnValue(1000);
});
afterEach(() => {
  vi.restoreAllMocks();
});

const VIDEOS = ['a', 'b', 'c', 'd'].map((id) => makeVideo({ id, originalFileName: `${id}.mp4` }));

function Library({ videos }: { readonly videos: readonly VideoDto[] }) {
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const select = useCallback((id: string) => setSelected(new Set([id])), []);
  return <VideoGrid videos={videos} aiTools selected={selected} onSelect={select} />;
}

describe('VideoGrid', () => {
  it('renders only the card whose video has changed', async () => {
    const { rerender } = renderAt('/videos', <Library videos={VIDEOS} />);
    await screen.findByRole('heading', { name: 'd.mp4' });
    drawn.ids.length = 0;
    rerender(
      <Library
        videos={VIDEOS.map((video) => (video.id === 'c' ? { ...video, version: 9, progress: 60 } : video))}
      />,
    );
    expect(drawn.ids).toEqual(['c']);
  });

  it('renders only the card that is selected', async () => {
    renderAt('/videos', <Library videos={VIDEOS} />);
    const [, second] = await screen.findAllByRole('checkbox');
    if (!second) throw new Error('The second card is missing.');
    drawn.ids.length = 0;
    await userEvent.setup({ delay: null }).click(second);
    expect(second).toBeChecked();
    expect(drawn.ids).toEqual(['b']);
  });
});

describe('an opened video', () => {
  it('scrolls the whole scrolling area into view', async () => {
    const intoView = vi.spyOn(Element.prototype, 'scrollIntoView');
    vi.spyOn(HTMLMediaElement.prototype, 'load').mockImplementation(() => undefined);
    vi.spyOn(HTMLMediaElement.prototype, 'pause').mockImplementation(() => undefined);
    renderAt(
      '/videos',
      <VideoGrid videos={VIDEOS} aiTools={false} selected={new Set()} onSelect={() => undefined} />,
    );
    const [first] = await screen.findAllByRole('button', { name: 'Show player and details' });
    if (!first) throw new Error('The first card is missing.');
    await userEvent.setup({ delay: null }).click(first);
    expect(intoView.mock.contexts).toContain(screen.getByRole('region', { name: 'Your videos' }));
  });
});

describe('toRows', () => {
  it('puts the details of the opened video below its row of cards', () => {
    const rows = toRows(VIDEOS, 3, 'b');
    expect(
      rows.map((row) => (row.kind === 'cards' ? row.videos.map(({ id }) => id) : `details ${row.video.id}`)),
    ).toEqual([['a', 'b', 'c'], 'details b', ['d']]);
  });
});
