import { screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { HttpResponse } from 'msw';
import { describe, expect, it } from 'vitest';
import { uploadsApi } from '#common/api/uploads.ts';
import { renderAt } from '../../test/render.tsx';
import { on, refusal, server, signedIn } from '../../test/server.ts';
import { OpenUploads } from './open-uploads.tsx';

function open() {
  const asked: unknown[] = [];
  server.use(
    signedIn(),
    on(uploadsApi.openUploads, () =>
      HttpResponse.json([
        {
          id: 'u1',
          uploadUrl: '/uploads/u1',
          fileName: 'pier.mp4',
          sizeBytes: 4,
          offsetBytes: 2,
          createdAt: '2026-05-04T10:00:00.000Z',
          expiresAt: '2026-05-11T10:00:00.000Z',
        },
      ]),
    ),
    on(uploadsApi.uploadUrl, async (request) => {
      asked.push(await request.json());
      return refusal('quota_reached');
    }),
  );
  renderAt('/', <OpenUploads />);
  return asked;
}

const clip = (content: string) => new File([content], 'pier.mp4', { type: 'video/mp4' });

describe('OpenUploads', () => {
  it('continues with the file that is picked again, at the place that asks for it', async () => {
    const asked = open();
    expect(await screen.findByRole('button', { name: 'Continue' })).toBeVisible();
    await userEvent.upload(screen.getByLabelText('Pick pier.mp4 again to continue'), clip('four'));
    await expect.poll(() => asked).toHaveLength(1);
  });

  it('does not start another upload with another file, and says how they differ', async () => {
    const asked = open();
    await userEvent.upload(await screen.findByLabelText('Pick pier.mp4 again to continue'), clip('seven b'));
    const why = 'pier.mp4 is another file: it has 7 Bytes, this upload is of 4 Bytes.';
    expect(await screen.findByText(why)).toHaveAttribute('role', 'alert');
    expect(asked).toEqual([]);
  });
});
