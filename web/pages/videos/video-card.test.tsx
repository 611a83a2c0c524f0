import { act, fireEvent, screen, waitFor } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse } from 'msw';
import { describe, expect, it, vi } from 'vitest';
import { draftsApi } from '#common/api/drafts.ts';
import { type VideoDto, videosApi } from '#common/api/videos.ts';
import { MADE_PLAYABLE, NO_ISSUES } from '#common/video.ts';
import { renderAt } from '../../test/render.tsx';
import { makeStatus, makeVideo } from '../../test/samples.ts';
import { on, refusal, server } from '../../test/server.ts';
import { shareTargets } from './share-menu.tsx';
import { WORK_HEIGHT } from '../../panels/work-progress.tsx';
import { VideoCard } from './video-card.tsx';

const person = userEvent.setup({ delay: null });

function show(change: Partial<VideoDto> = {}) {
  const video = makeVideo(change);
  const onToggle = vi.fn();
  const card = (shown: VideoDto) => (
    <VideoCard video={shown} open={false} selected={false} onSelect={() => undefined} onToggle={onToggle} />
  );
  const view = renderAt('/videos', card(video));
  return { ...view, video, onToggle, update: (next: VideoDto) => view.rerender(card(next)) };
}

describe('VideoCard', () => {
  it('shows name, short id, status, size and date', () => {
    show();
    expect(screen.getByRole('heading', { name: 'harbour.mp4' })).toBeInTheDocument();
    expect(screen.getByText('#video-00')).toBeInTheDocument();
    expect(screen.getByText('Completed')).toBeInTheDocument();
    expect(screen.getByText('Size 3 MB')).toBeInTheDocument();
    expect(document.querySelector('time')).toHaveAttribute('datetime', '2026-05-04T09:00:00.000Z');
  });

  it('names the defects that were found', () => {
    show({
      issues: {
        ...NO_ISSUES,
        stutteredCuts: 2,
        audioSyncIssues: true,
        droppedFrames: 1,
        corruptedSections: 3,
        windNoise: true,
      },
    });
    const chips = screen.getByRole('list', { name: 'Issues' });
    expect([...chips.children].map((chip) => chip.textContent)).toEqual([
      '2 stuttered cuts',
      'Audio sync',
      '1 dropped frame',
      '3 corrupted sections',
      'Wind noise',
    ]);
  });

  it('says for each kind of defect whether it was repaired', () => {
    show({
      issues: { ...NO_ISSUES, stutteredCuts: 3, audioSyncIssues: true, droppedFrames: 4, windNoise: true },
      fixesApplied: { stutteredCuts: 2, audioSyncIssues: true, droppedFrames: 4 },
    });
    const chips = screen.getByRole('list', { name: 'Issues' });
    expect([...chips.children].map((chip) => chip.textContent)).toEqual([
      '3 stuttered cuts, 2 mended',
      'Audio sync, mended',
      '4 dropped frames, mended',
      'Wind noise',
    ]);
  });

  it.each([
    [{ corruptedSections: 2, [MADE_PLAYABLE]: 2 }, '2 corrupted sections, made playable'],
    [{ corruptedSections: 2, [MADE_PLAYABLE]: 1 }, '2 corrupted sections, 1 mended, 1 made playable'],
    [{ corruptedSections: 1, [MADE_PLAYABLE]: 1 }, '2 corrupted sections, 1 made playable'],
    [{ corruptedSections: 2 }, '2 corrupted sections, mended'],
  ])('does not call pictures mended when traces may be visible (%o)', (fixesApplied, words) => {
    show({ issues: { ...NO_ISSUES, corruptedSections: 2 }, fixesApplied });
    expect(screen.getByRole('list', { name: 'Issues' })).toHaveTextContent(words);
  });

  it('labels the main actions in words: the download and the report', () => {
    show({ hasReport: true });
    // Visible text, not only a name for screen readers: on a touch screen icons have no tooltips.
    expect(screen.getByRole('button', { name: 'Download' })).not.toHaveAttribute('title');
    expect(screen.getByRole('link', { name: 'Repair report' })).toHaveAttribute(
      'href',
      '/videos/video-0001-abcdef/report',
    );
  });

  it('does not say None for a clip that failed before it was analysed', () => {
    show({ status: 'failed', issues: null });
    expect(screen.getByText('Issues: not known')).toBeInTheDocument();
    expect(screen.queryByText('None')).not.toBeInTheDocument();
  });

  it('says None when only the picture could be improved, with a hint beside it', () => {
    show({ issues: { ...NO_ISSUES, shakyFootage: true } });
    expect(screen.getByText('None')).toBeInTheDocument();
    expect(screen.getByTitle(/^Shaky footage: noted, not changed/)).toBeInTheDocument();
  });

  it('shows an unknown status unchanged', () => {
    show({ status: 'archived' });
    expect(screen.getByText('archived')).toBeInTheDocument();
  });

  it('shows measured progress while processing and disables actions that need a finished video, with the reason', () => {
    show({ status: 'processing', progress: 42, currentStep: 'fixing_cuts', estimatedTimeRemaining: 61 });
    const bar = screen.getByRole('progressbar', { name: 'harbour.mp4' });
    expect(bar).toHaveAttribute('aria-valuenow', '42');
    expect(bar).toHaveAttribute('aria-valuetext', 'Fixing stuttered cuts, 42 percent');
    // Always below the step, however long its name is; beside some steps and below others, it would move what follows.
    const line = screen.getByText('42 % · 2 min remaining').parentElement;
    expect(line && getComputedStyle(line).flexDirection).toBe('column');
    for (const name of ['Open in editor', 'Download', 'Share']) {
      const button = screen.getByRole('button', { name });
      expect(button).toBeDisabled();
      expect(button).toHaveAttribute(
        'title',
        expect.stringContaining('Available when processing is complete'),
      );
    }
    for (const name of ['Rename', 'Add to drafts', 'Delete'])
      expect(screen.getByRole('button', { name })).toBeEnabled();
  });

  it('says why processing failed and processes again on Retry', async () => {
    const retried = vi.fn();
    server.use(
      on(videosApi.retry, () => {
        retried();
        return HttpResponse.json(makeVideo());
      }),
    );
    const { unmount } = show({ status: 'failed', errorMessage: null });
    expect(screen.getByText('Unknown error')).toBeInTheDocument();
    unmount();
    show({ status: 'failed', errorMessage: 'The picture data are missing.' });
    expect(screen.getByText('The picture data are missing.')).toBeInTheDocument();
    await person.click(screen.getByRole('button', { name: 'Retry' }));
    await expect.poll(() => retried.mock.calls.length).toBe(1);
  });

  it('says in plain words what is wrong with a damaged file and links to what can be done', () => {
    show({ status: 'failed', errorCode: 'damaged_beyond_repair', errorMessage: 'The index is missing.' });
    expect(screen.getByText(/Too much of this file is missing/)).toBeInTheDocument();
    expect(screen.queryByText('The index is missing.')).not.toBeInTheDocument();
    expect(screen.getByRole('link', { name: /What can I do/ })).toHaveAttribute(
      'href',
      '/videos/video-0001-abcdef/report',
    );
  });

  it('opens the editor', async () => {
    show();
    await person.click(screen.getByRole('button', { name: 'Open in editor' }));
    expect(screen.getByTestId('place')).toHaveTextContent('/editor/video-0001-abcdef');
  });

  it('asks to expand by its play button', async () => {
    const { onToggle } = show();
    await person.click(screen.getByRole('button', { name: 'Show player and details' }));
    expect(onToggle).toHaveBeenCalledOnce();
  });
});

describe('renaming', () => {
  function serveRename(): unknown[] {
    const sent: unknown[] = [];
    server.use(
      on(videosApi.rename, async (request) => {
        sent.push(await request.json());
        return HttpResponse.json(makeVideo({ originalFileName: 'pier.mp4', version: 9 }));
      }),
    );
    return sent;
  }

  it('saves the trimmed name by Enter', async () => {
    const sent = serveRename();
    show();
    await person.click(screen.getByRole('button', { name: 'Rename' }));
    const input = screen.getByRole('textbox', { name: 'New name' });
    await person.clear(input);
    await person.type(input, '  pier.mp4 {Enter}');
    await expect.poll(() => sent).toEqual([{ fileName: 'pier.mp4' }]);
    expect(await screen.findByText('Video renamed')).toBeInTheDocument();
    await waitFor(() => expect(screen.queryByRole('textbox')).not.toBeInTheDocument());
  });

  it('cancels by Escape and shows the old name', async () => {
    const sent = serveRename();
    show();
    await person.click(screen.getByRole('button', { name: 'Rename' }));
    await person.type(screen.getByRole('textbox'), 'other{Escape}');
    expect(screen.getByRole('heading', { name: 'harbour.mp4' })).toBeInTheDocument();
    expect(sent).toEqual([]);
  });

  it('returns the focus when it ends', async () => {
    serveRename();
    show();
    const button = screen.getByRole('button', { name: 'Rename' });
    await person.click(button);
    await person.type(screen.getByRole('textbox'), 'other{Escape}');
    expect(button).toHaveFocus();
    await person.click(button);
    await person.type(screen.getByRole('textbox'), 'pier.mp4{Enter}');
    await expect.poll(() => screen.queryByRole('textbox')).toBeNull();
    expect(button).toHaveFocus();
  });

  it('starts with the key R in the card, which is a letter while typing', async () => {
    serveRename();
    show();
    screen.getByRole('checkbox').focus();
    await person.keyboard('r');
    const input = screen.getByRole('textbox', { name: 'New name' });
    await person.clear(input);
    await person.type(input, 'rrr');
    expect(input).toHaveValue('rrr');
  });

  it('ignores keys with Ctrl, and keys elsewhere', async () => {
    show();
    await person.keyboard('r');
    screen.getByRole('checkbox').focus();
    await person.keyboard('{Control>}r{/Control}');
    expect(screen.queryByRole('textbox')).toBeNull();
  });

  it('sends nothing for an empty name', async () => {
    const sent = serveRename();
    show();
    await person.click(screen.getByRole('button', { name: 'Rename' }));
    const input = screen.getByRole('textbox');
    await person.clear(input);
    await person.type(input, '   {Enter}');
    expect(sent).toEqual([]);
    expect(screen.getByRole('textbox')).toBeInTheDocument();
  });

  it('keeps the typed name when the list is refreshed meanwhile', async () => {
    serveRename();
    const { update, video } = show();
    await person.click(screen.getByRole('button', { name: 'Rename' }));
    const input = screen.getByRole('textbox');
    await person.clear(input);
    await person.type(input, 'half a na');
    update({ ...video, version: 7, progress: 100 });
    expect(screen.getByRole('textbox')).toHaveValue('half a na');
  });

  it('stays open with the text when it failed', async () => {
    server.use(on(videosApi.rename, () => refusal('conflict')));
    show();
    await person.click(screen.getByRole('button', { name: 'Rename' }));
    await person.type(screen.getByRole('textbox'), 'x{Enter}');
    expect(await screen.findByText('Rename failed')).toBeInTheDocument();
    expect(screen.getByRole('textbox')).toBeInTheDocument();
  });
});

describe('deleting', () => {
  it('asks first and sends nothing on Cancel', async () => {
    const confirm = vi.spyOn(window, 'confirm').mockReturnValue(false);
    const removed = vi.fn();
    server.use(
      on(videosApi.remove, () => {
        removed();
        return HttpResponse.json({ message: 'gone' });
      }),
    );
    show();
    await person.click(screen.getByRole('button', { name: 'Delete' }));
    expect(confirm).toHaveBeenCalledWith(expect.stringContaining('cannot be undone'));
    expect(removed).not.toHaveBeenCalled();
    confirm.mockReturnValue(true);
    await person.click(screen.getByRole('button', { name: 'Delete' }));
    expect(await screen.findByText('Video deleted')).toBeInTheDocument();
    expect(removed).toHaveBeenCalledOnce();
  });

  it('asks the same when the key Del is pressed in the card', async () => {
    const confirm = vi.spyOn(window, 'confirm').mockReturnValue(true);
    confirm.mockClear();
    server.use(on(videosApi.remove, () => HttpResponse.json({ message: 'gone' })));
    show();
    await person.keyboard('{Delete}');
    expect(confirm).not.toHaveBeenCalled();
    screen.getByRole('checkbox').focus();
    await person.keyboard('{Delete}');
    expect(confirm).toHaveBeenCalledOnce();
    expect(await screen.findByText('Video deleted')).toBeInTheDocument();
  });

  it('says when deleting failed', async () => {
    vi.spyOn(window, 'confirm').mockReturnValue(true);
    server.use(on(videosApi.remove, () => refusal('internal')));
    show();
    await person.click(screen.getByRole('button', { name: 'Delete' }));
    expect(await screen.findByText('Delete failed')).toBeInTheDocument();
  });
});

describe('a download limited by the plan', () => {
  const limited = (change: Partial<NonNullable<VideoDto['limitedExport']>>): Partial<VideoDto> => ({
    width: 3840,
    height: 2160,
    limitedExport: {
      shortSide: 1080,
      state: 'waiting',
      progress: 0,
      sizeBytes: null,
      message: null,
      ...change,
    },
  });

  it('is described on the card and on its button, with what is kept and how to get the whole', () => {
    show(limited({ state: 'ready', progress: 100, sizeBytes: 5 * 1024 ** 2 }));
    expect(screen.getByText('Download in 1080p, 5 MB.')).toBeInTheDocument();
    expect(screen.getByText(/^Your full 3840 × 2160 result and the original are kept\./)).toBeInTheDocument();
    expect(screen.getByRole('link', { name: 'Upgrade for full size' })).toHaveAttribute('href', '/upgrade');
    expect(screen.getByRole('button', { name: 'Download in 1080p' })).toBeEnabled();
  });

  it('shows the measured progress of the file', () => {
    const { update, video } = show(limited({ state: 'waiting' }));
    expect(screen.getByText(/Your 1080p file waits for its turn/)).toBeInTheDocument();
    update({ ...video, ...limited({ state: 'working', progress: 34 }) });
    expect(screen.getByText('Making your 1080p file, 34 percent')).toBeInTheDocument();
    expect(screen.getByRole('progressbar', { name: '1080p file' })).toHaveAttribute('aria-valuenow', '34');
  });

  it('keeps the height of the progress at its end, so that what is below does not move', () => {
    const { update, video } = show(limited({ state: 'working', progress: 99 }));
    update({ ...video, ...limited({ state: 'ready', progress: 100, sizeBytes: 5 * 1024 ** 2 }) });
    expect(screen.getByText('Download in 1080p, 5 MB.').parentElement).toHaveStyle({
      minHeight: WORK_HEIGHT,
    });
  });

  it('takes no room for a progress that nobody saw', () => {
    show(limited({ state: 'ready', progress: 100, sizeBytes: 5 * 1024 ** 2 }));
    expect(screen.getByText('Download in 1080p, 5 MB.').parentElement).toHaveStyle({ minHeight: '0' });
  });

  it('cancels the file, and moves the focus to the button that makes it', async () => {
    const { update, video } = show(limited({ state: 'working', progress: 34 }));
    const asked: string[] = [];
    server.use(
      on(videosApi.cancelExport, (request) => {
        asked.push(new URL(request.url).pathname);
        return HttpResponse.json(makeStatus({ status: 'completed', version: 4 }));
      }),
    );
    await person.click(screen.getByRole('button', { name: 'Cancel the 1080p file' }));
    await expect.poll(() => asked).toEqual(['/api/videos/video-0001-abcdef/export/cancel']);
    update({ ...video, ...limited({ state: 'cancelled' }) });
    expect(screen.queryByRole('progressbar', { name: '1080p file' })).toBeNull();
    expect(screen.getByText('The 1080p file was cancelled.')).toBeInTheDocument();
    expect(screen.getByText(/^Your full 3840 × 2160/)).toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Make the 1080p file' })).toHaveFocus();
  });

  it('says why there is no file and tries again', async () => {
    show(limited({ state: 'failed', message: 'Too little memory.' }));
    expect(screen.getByText('Too little memory.')).toBeInTheDocument();
    const asked: string[] = [];
    server.use(
      on(videosApi.exportLimited, (request) => {
        asked.push(new URL(request.url).pathname);
        return HttpResponse.json(makeStatus({ status: 'completed', version: 4 }));
      }),
    );
    await person.click(screen.getByRole('button', { name: 'Try again' }));
    await expect.poll(() => asked).toEqual(['/api/videos/video-0001-abcdef/export']);
  });

  it('is not mentioned when the whole result is downloaded', () => {
    show({ width: 1920, height: 1080, limitedExport: null });
    expect(screen.queryByRole('link', { name: 'Upgrade for full size' })).not.toBeInTheDocument();
    expect(screen.getByRole('button', { name: 'Download' })).toBeEnabled();
  });
});

describe('adding to drafts', () => {
  it('is on the card, and says when it failed', async () => {
    server.use(on(draftsApi.create, () => refusal('storage_full')));
    show();
    await person.click(screen.getByRole('button', { name: 'Add to drafts' }));
    expect(await screen.findByText('Failed to Add to Drafts')).toBeInTheDocument();
  });
});

describe('the share menu', () => {
  it('opens the four sites with text and link', async () => {
    show();
    await person.click(screen.getByRole('button', { name: 'Share' }));
    const offered = screen
      .getAllByRole('menuitem')
      .map((site) => [site.textContent, site.getAttribute('href')]);
    const link = `${window.location.origin}/video/${makeVideo().id}`;
    expect(offered).toEqual(shareTargets('harbour.mp4', link).map(({ label, href }) => [label, href]));
    const targets = shareTargets('harbour.mp4', 'https://reelmend.test/video/v1');
    expect(targets.map(({ label }) => label)).toEqual(['TikTok', 'YouTube', 'Instagram', 'X']);
    expect(targets[0]?.href).toBe('https://www.tiktok.com/upload');
    expect(targets[1]?.href).toBe('https://studio.youtube.com/');
    expect(targets[2]?.href).toBe('https://www.instagram.com/');
    const intent = new URL(targets[3]?.href ?? '');
    expect(intent.pathname).toBe('/intent/tweet');
    expect(intent.searchParams.get('url')).toBe('https://reelmend.test/video/v1');
    expect(intent.searchParams.get('text')).toContain('harbour.mp4');
  });

  it('closes one second after the pointer has left, and stays when it returns in time', async () => {
    show();
    await person.click(screen.getByRole('button', { name: 'Share' }));
    const menu = screen.getByRole('menu');
    vi.useFakeTimers();
    try {
      const leave = (): boolean => fireEvent.pointerLeave(menu, { pointerType: 'mouse' });
      leave();
      act(() => vi.advanceTimersByTime(900));
      fireEvent.pointerEnter(menu, { pointerType: 'mouse' });
      act(() => vi.advanceTimersByTime(5000));
      expect(screen.getByRole('menu')).toBeInTheDocument();
      leave();
      act(() => vi.advanceTimersByTime(1000));
      expect(screen.queryByRole('menu')).not.toBeInTheDocument();
    } finally {
      vi.useRealTimers();
    }
  });

  it('also closes when the pointer turns away from the button without entering the menu', async () => {
    show();
    await person.click(screen.getByRole('button', { name: 'Share' }));
    vi.useFakeTimers();
    try {
      const button = screen.getByRole('button', { name: 'Share' });
      fireEvent.pointerLeave(button, { pointerType: 'mouse' });
      act(() => vi.advanceTimersByTime(900));
      fireEvent.pointerEnter(screen.getByRole('menu'), { pointerType: 'mouse' });
      act(() => vi.advanceTimersByTime(5000));
      expect(screen.getByRole('menu')).toBeInTheDocument();
      fireEvent.pointerLeave(button, { pointerType: 'mouse' });
      act(() => vi.advanceTimersByTime(1000));
      expect(screen.queryByRole('menu')).not.toBeInTheDocument();
    } finally {
      vi.useRealTimers();
    }
  });

  it('makes the public page reachable when a site is chosen', async () => {
    const sent: unknown[] = [];
    server.use(
      on(videosApi.share, async (request) => {
        sent.push(await request.json());
        return HttpResponse.json({ shared: true });
      }),
    );
    show();
    await person.click(screen.getByRole('button', { name: 'Share' }));
    for (const item of screen.getAllByRole('menuitem')) expect(item).toHaveAttribute('target', '_blank');
    const intent = new URL(screen.getByRole('menuitem', { name: 'X' }).getAttribute('href') ?? '');
    expect(intent.searchParams.get('url')).toBe(`${window.location.origin}/video/video-0001-abcdef`);
    await person.click(screen.getByRole('menuitem', { name: 'TikTok' }));
    await expect.poll(() => sent).toEqual([{ shared: true }]);
  });
});
