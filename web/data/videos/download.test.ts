import { http, HttpResponse } from 'msw';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { server } from '../../test/server.ts';
import { downloadVideo } from './download.ts';

const URL_PATTERN = '*/api/videos/:id/download';

function refuse(status: number, body: Record<string, unknown>): void {
  server.use(
    http.head(
      URL_PATTERN,
      () => new HttpResponse(null, { status, headers: { 'Content-Type': 'application/json' } }),
    ),
    http.get(URL_PATTERN, () => HttpResponse.json(body, { status })),
  );
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('downloadVideo', () => {
  it('lets the browser save the file under its specified name, without reading it', async () => {
    const get = vi.fn();
    server.use(
      http.head(URL_PATTERN, () => new HttpResponse(null, { headers: { 'Content-Type': 'video/mp4' } })),
      http.get(URL_PATTERN, () => {
        get();
        return HttpResponse.json({});
      }),
    );
    const saved: string[] = [];
    vi.spyOn(HTMLAnchorElement.prototype, 'click').mockImplementation(function (this: HTMLAnchorElement) {
      saved.push(`${new URL(this.href).pathname} as ${this.download}`);
    });
    expect(await downloadVideo('v1', 'library')).toBeNull();
    expect(saved).toEqual(['/api/videos/v1/download as video-v1.mp4']);
    expect(get).not.toHaveBeenCalled();
  });

  it('says Demo Mode for demo videos', async () => {
    refuse(403, { message: 'demo', demoMode: true });
    expect(await downloadVideo('v1', 'dashboard')).toEqual({
      title: 'Demo Mode',
      description:
        'Downloads are not available for demo videos. In production, you would be able to download your processed videos.',
    });
  });

  it("shows the server's message, or its own when there is none", async () => {
    refuse(409, { message: 'Still processing.', demoMode: false });
    expect(await downloadVideo('v1', 'library')).toMatchObject({
      title: 'Download Failed',
      description: 'Still processing.',
    });
    refuse(500, {});
    expect(await downloadVideo('v1', 'library')).toMatchObject({
      title: 'Download Failed',
      description: 'Video file not available. Please try processing the video again.',
    });
  });

  it('treats a successful JSON answer as a failure', async () => {
    refuse(200, { message: 'No file here.' });
    expect(await downloadVideo('v1', 'library')).toMatchObject({
      title: 'Download Failed',
      description: 'No file here.',
    });
  });

  it.each([
    ['dashboard', 'Failed to download video. Please try again.'],
    ['library', 'Unable to download video. Please try again.'],
  ] as const)('says Download Error on the %s when the network fails', async (page, description) => {
    server.use(http.head(URL_PATTERN, () => HttpResponse.error()));
    expect(await downloadVideo('v1', page)).toMatchObject({ title: 'Download Error', description });
  });

  it('says that the file is being made, which is not a failure', async () => {
    const message =
      'Your plan downloads in 1080p. That file is being made (34 %); your full-size result is kept.';
    refuse(409, { code: 'export_pending', message, error: message, demoMode: false });
    expect(await downloadVideo('v1', 'library')).toEqual({
      title: 'Your file is being made',
      description: message,
    });
  });
});
