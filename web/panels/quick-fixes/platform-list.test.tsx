import { render, screen, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import type { MediaSummary } from '#common/report.ts';
import { makeReport } from '../../test/samples.ts';
import { PlatformList } from './platform-list.tsx';

function show(change: Partial<MediaSummary>, sizeBytes = 5 * 1024 ** 2) {
  const report = makeReport();
  const media = { ...report.result.media, ...change };
  render(<PlatformList file={{ sizeBytes, media }} />);
  const rows = screen.getAllByRole('listitem').map((row) => within(row));
  const [tiktok, youtube, instagram] = rows;
  if (!tiktok || !youtube || !instagram) throw new Error('a platform is missing');
  return { tiktok, youtube, instagram };
}

describe('PlatformList', () => {
  it('says that an upright clip fits everywhere', () => {
    const { tiktok, youtube, instagram } = show({ width: 1080, height: 1920 });
    expect(tiktok.getByText('TikTok')).toBeInTheDocument();
    expect(youtube.getByText('YouTube Shorts')).toBeInTheDocument();
    expect(instagram.getByText('Instagram Reels')).toBeInTheDocument();
    expect(screen.getAllByText('Fits as it is')).toHaveLength(3);
  });

  it('says what the platforms will do to a wide clip', () => {
    const { tiktok, youtube } = show({ width: 1280, height: 720 });
    expect(tiktok.getByText('Fits, with a note')).toBeInTheDocument();
    expect(
      tiktok.getByText('1280 × 720 is not 9:16: it will be cropped or shown with bars.'),
    ).toBeInTheDocument();
    expect(
      youtube.getByText('1280 × 720 is wider than tall, so it becomes an ordinary video instead of a Short.'),
    ).toBeInTheDocument();
  });

  it('says what is refused, with both figures', () => {
    const { youtube, instagram } = show({ width: 1080, height: 1920, durationMs: 200_000 }, 400 * 1024 ** 2);
    expect(youtube.getByText('Does not fit')).toBeInTheDocument();
    expect(youtube.getByText('3.3 min is too long: 3.0 min at most.')).toBeInTheDocument();
    expect(instagram.getByText('400 MB is too large: 300 MB at most.')).toBeInTheDocument();
  });
});
