import { screen, within } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse } from 'msw';
import { describe, expect, it } from 'vitest';
import { type DraftDto, draftsApi } from '#common/api/drafts.ts';
import { videosApi } from '#common/api/videos.ts';
import { queryKeyOf } from '../../data/query-client.ts';
import { renderAt } from '../../test/render.tsx';
import { on, refusal, server, signedIn } from '../../test/server.ts';
import { DraftsPage } from './drafts-page.tsx';

const person = userEvent.setup({ delay: null });

function makeDraft(change: Partial<DraftDto> = {}): DraftDto {
  return {
    id: 'draft-0001-abcdef',
    videoId: 'video-0001-abcdef',
    fileName: 'harbour.mp4',
    lastModified: '2026-05-04T10:00:00.000Z',
    sizeBytes: 3 * 1024 ** 2,
    sha256: 'a'.repeat(64),
    expiresAt: '2026-06-03T10:00:00.000Z',
    integrity: 'ok',
    videoExists: true,
    videoStatus: 'completed',
    errorCode: null,
    errorMessage: null,
    ...change,
  };
}

function open(drafts: DraftDto[]) {
  server.use(
    signedIn(),
    on(draftsApi.list, () => HttpResponse.json(drafts)),
    on(videosApi.list, () => HttpResponse.json([])),
  );
  return renderAt('/drafts', <DraftsPage />);
}

describe('DraftsPage', () => {
  it('shows each backup with name, short id, type, dates and its download', async () => {
    open([makeDraft()]);
    expect(screen.getByRole('link', { name: 'Back to My Videos' })).toHaveAttribute('href', '/videos');
    expect(screen.getByRole('heading', { level: 1, name: 'Cloud Backup' })).toBeInTheDocument();
    expect(await screen.findByRole('heading', { name: 'harbour.mp4' })).toBeInTheDocument();
    expect(screen.getByText('#draft-00')).toBeInTheDocument();
    expect(screen.getByText('Draft Backup')).toBeInTheDocument();
    const factOf = (term: string): string | null | undefined =>
      screen.getByText(term).parentElement?.querySelector('time')?.getAttribute('datetime');
    expect(factOf('Backup date')).toBe('2026-05-04T10:00:00.000Z');
    expect(factOf('Auto-saved')).toBe('2026-05-04T10:00:00.000Z');
    expect(factOf('Kept until')).toBe('2026-06-03T10:00:00.000Z');
    const download = screen.getByRole('link', { name: 'Download the original of harbour.mp4' });
    expect(download).toHaveAttribute('href', '/api/drafts/draft-0001-abcdef/download');
    expect(download).toHaveAttribute('download', 'harbour.mp4');
  });

  it('restores and says so, after the lists were read again', async () => {
    const { client } = open([makeDraft()]);
    const restored: string[] = [];
    server.use(
      on(draftsApi.restore, (request) => {
        restored.push(new URL(request.url).pathname);
        return HttpResponse.json({ videoId: 'video-0001-abcdef' });
      }),
    );
    await person.click(await screen.findByRole('button', { name: 'Restore' }));
    expect(await screen.findByText('Draft restored')).toBeInTheDocument();
    expect(screen.getByText('harbour.mp4 is the current version again.')).toBeInTheDocument();
    expect(restored).toEqual(['/api/drafts/draft-0001-abcdef/restore']);
    await expect
      .poll(() => client.getQueryState(queryKeyOf(draftsApi.list))?.dataUpdateCount)
      .toBeGreaterThan(1);
  });

  it('says why a restore failed', async () => {
    open([makeDraft()]);
    server.use(on(draftsApi.restore, () => refusal('storage_full')));
    await person.click(await screen.findByRole('button', { name: 'Restore' }));
    expect(await screen.findByText('Restore failed')).toBeInTheDocument();
  });

  it('warns about damaged bytes and about a deleted video', async () => {
    open([makeDraft({ integrity: 'damaged', videoExists: false })]);
    const row = within(await screen.findByRole('listitem'));
    expect(row.getByText('Damaged')).toBeInTheDocument();
    expect(
      row.getByText('The video was deleted; this backup can bring it back, with its saved captions.'),
    ).toBeInTheDocument();
    expect(row.getByText(/Restore mends what is left of it/)).toBeInTheDocument();
    expect(row.getByRole('button', { name: 'Restore' })).toBeEnabled();
  });

  it('does not restore an original that changed on the disk over a repaired version, and says why', async () => {
    open([makeDraft({ integrity: 'damaged' })]);
    const row = within(await screen.findByRole('listitem'));
    expect(row.getByText(/no longer matches its checksum, so it cannot be restored/)).toBeInTheDocument();
    expect(row.getByRole('button', { name: 'Restore' })).toBeDisabled();
    expect(row.getByRole('link', { name: /^Download the original/ })).toBeInTheDocument();
  });

  it('says of a deleted clip too why it could not be mended, in plain words', async () => {
    const message = 'The moov box has no sample table.';
    open([makeDraft({ videoExists: false, errorCode: 'damaged_beyond_repair', errorMessage: message })]);
    const row = within(await screen.findByRole('listitem'));
    expect(
      row.getByText(/^Why it could not be mended: Too much of this file is missing/),
    ).toBeInTheDocument();
    expect(row.getByText(/^The video was deleted/)).toBeInTheDocument();
    expect(row.getByRole('button', { name: 'Restore' })).toBeEnabled();
  });

  it('offers no restore of a clip that could not be mended, and says why', async () => {
    open([makeDraft({ videoStatus: 'failed' })]);
    const row = within(await screen.findByRole('listitem'));
    expect(row.getByText(/^This clip could not be mended, so there is nothing to undo/)).toBeInTheDocument();
    expect(row.getByRole('button', { name: 'Restore' })).toBeDisabled();
    expect(row.getByRole('link', { name: /^Download the original/ })).toBeInTheDocument();
  });

  it('says of a deleted video that it is back and being mended, not that it is current', async () => {
    open([makeDraft({ videoExists: false, videoStatus: null })]);
    server.use(on(draftsApi.restore, () => HttpResponse.json({ videoId: 'video-0001-abcdef' })));
    await person.click(await screen.findByRole('button', { name: 'Restore' }));
    expect(
      await screen.findByText('harbour.mp4 is back among your videos and is being mended again.'),
    ).toBeInTheDocument();
  });

  it('says that there are none yet and links to the upload', async () => {
    open([]);
    expect(await screen.findByText('No backups yet')).toBeInTheDocument();
    expect(screen.getByRole('link', { name: 'Upload a video' })).toHaveAttribute('href', '/#upload');
  });

  it('says when the list could not be read and reads again on Retry', async () => {
    server.use(
      signedIn(),
      on(draftsApi.list, () => refusal('internal')),
    );
    renderAt('/drafts', <DraftsPage />);
    expect(await screen.findByText('Your backups could not be loaded.')).toBeInTheDocument();
    server.use(on(draftsApi.list, () => HttpResponse.json([makeDraft()])));
    await person.click(screen.getByRole('button', { name: 'Retry' }));
    expect(await screen.findByText('harbour.mp4')).toBeInTheDocument();
  });

  it('reads every 5 s without push', async () => {
    const { client } = open([makeDraft()]);
    await screen.findByText('harbour.mp4');
    const query = client.getQueryCache().find({ queryKey: queryKeyOf(draftsApi.list) });
    expect(query?.observers[0]?.options.refetchInterval).toBe(5000);
  });

  it('loads the next page on a press', async () => {
    const many = Array.from({ length: 120 }, (_unused, index) =>
      makeDraft({ id: `d${index}`, fileName: `take ${index}.mp4` }),
    );
    const cursors: (string | null)[] = [];
    server.use(
      signedIn(),
      on(draftsApi.list, (request) => {
        const query = new URL(request.url).searchParams;
        cursors.push(query.get('cursor'));
        return HttpResponse.json(query.get('cursor') ? many.slice(100) : many.slice(0, 100));
      }),
    );
    renderAt('/drafts', <DraftsPage />);
    // By text, because finding roles in a hundred rows takes jsdom seconds.
    await person.click(await screen.findByText('Show more backups'));
    expect(await screen.findByText('take 119.mp4')).toBeInTheDocument();
    expect(screen.queryByText('Show more backups')).not.toBeInTheDocument();
    expect(new Set(cursors)).toEqual(new Set([null, '2026-05-04T10:00:00.000Z~d99']));
  });
});
