import { screen, waitFor } from '@testing-library/react';
import { HttpResponse } from 'msw';
import { useState } from 'react';
import { describe, expect, it } from 'vitest';
import { type ClipVersionDto, quickFixesApi } from '#common/api/quick-fixes.ts';
import { renderAt } from '../../test/render.tsx';
import { makeReport, makeVersion, makeVideo } from '../../test/samples.ts';
import { on, server } from '../../test/server.ts';
import { CurrentPlatformList } from './current-platform-list.tsx';

const report = makeReport();
const wide = '1280 × 720 is not 9:16: it will be cropped or shown with bars.';

function Page({ start, next = start }: { readonly start: string | null; readonly next?: string | null }) {
  const [resultSha256, setResult] = useState<string | null>(start);
  return (
    <>
      <button type="button" onClick={() => setResult(next)}>
        switch
      </button>
      <CurrentPlatformList video={makeVideo({ id: 'v1', resultSha256 })} report={report} />
    </>
  );
}

function open(versions: readonly ClipVersionDto[], start: string | null, next?: string) {
  server.use(on(quickFixesApi.read, () => HttpResponse.json({ run: null, done: [], versions, exports: [] })));
  return renderAt('/', <Page start={start} next={next} />);
}

describe('CurrentPlatformList', () => {
  it('judges a repair by its report, also where a server does not name its hash', async () => {
    const { unmount } = open([], report.result.sha256);
    expect(await screen.findAllByText(wide)).toHaveLength(2);
    unmount();
    open([], null);
    expect(await screen.findAllByText(wide)).toHaveLength(2);
  });

  it('judges a version with quick fixes by what was kept of it', async () => {
    const media = { ...report.result.media, width: 720, height: 1280 };
    const fixed = makeVersion({ id: 'f1', kind: 'fixes', sha256: 'c'.repeat(64), media });
    open([makeVersion(), fixed], fixed.sha256);
    expect(await screen.findAllByText('Fits as it is')).toHaveLength(3);
  });

  it('keeps the last check until a new version is known, and says when nothing was kept of it', async () => {
    const fixed = makeVersion({ id: 'f1', kind: 'fixes', sha256: 'c'.repeat(64) });
    const { client } = open([makeVersion()], report.result.sha256, fixed.sha256);
    await screen.findAllByText(wide);
    screen.getByRole('button', { name: 'switch' }).click();
    await waitFor(() => expect(screen.getAllByText(wide)).toHaveLength(2));
    server.use(
      on(quickFixesApi.read, () =>
        HttpResponse.json({ run: null, done: [], versions: [makeVersion(), fixed], exports: [] }),
      ),
    );
    await client.invalidateQueries();
    expect(await screen.findByText(/^What the current version holds was not kept/)).toBeInTheDocument();
    expect(screen.queryByText(wide)).not.toBeInTheDocument();
    expect(screen.queryByText(/^Checked against/)).not.toBeInTheDocument();
  });
});
