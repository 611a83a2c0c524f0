import { describe, expect, it } from 'vitest';
import { buildPath, id } from './endpoint.ts';
import { uploadsApi } from './uploads.ts';

describe('buildPath', () => {
  it('replaces and encodes the parameters of a path', () => {
    expect(buildPath('/api/videos/:id/status', { id: 'a b/c' })).toBe('/api/videos/a%20b%2Fc/status');
  });
});

describe('ids', () => {
  it.each(['../../etc/passwd', 'a/b', '', 'a'.repeat(65), "1' OR '1'='1", '%00'])('refuse %j', (value) => {
    expect(id.safeParse(value).success).toBe(false);
  });
});

describe('upload-complete', () => {
  const body = uploadsApi.uploadComplete.body;
  const base = { fileName: 'clip.mp4', uploadUrl: '/uploads/x' };

  it('accepts the size as text or number', () => {
    expect(body?.parse({ ...base, fileSize: '2147483648' }).fileSize).toBe(2_147_483_648);
    expect(body?.parse({ ...base, fileSize: 12 }).fileSize).toBe(12);
  });

  it.each(['-1', '1e3', '', 'NaN', '1.5', ' 7'])('refuses the size %j', (fileSize) => {
    expect(body?.safeParse({ ...base, fileSize }).success).toBe(false);
  });
});
