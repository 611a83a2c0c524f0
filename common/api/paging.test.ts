import { describe, expect, it } from 'vitest';
import { cursorAfter, pageQuery, readCursor } from './paging.ts';

describe('pages', () => {
  const item = { createdAt: '2026-01-31T23:59:59.999Z', id: 'a_B-9' };

  it('read back what a cursor was made from', () => {
    const { cursor } = pageQuery.parse({ cursor: cursorAfter(item) });
    expect(readCursor(cursor)).toEqual({ atMs: Date.parse(item.createdAt), id: 'a_B-9' });
  });

  it('accept the limit as text', () => {
    expect(pageQuery.parse({ limit: '50' }).limit).toBe(50);
  });

  it.each(['0', '201', '-1', '1.5', 'many', ''])('refuse the limit %j', (limit) => {
    expect(pageQuery.safeParse({ limit }).success).toBe(false);
  });

  it.each(['', '~', "x' OR 1=1", '2026-01-31T23:59:59.999Z', '2026-01-31T23:59:59.999Z~../x'])(
    'refuse the cursor %j',
    (cursor) => {
      expect(pageQuery.safeParse({ cursor }).success).toBe(false);
    },
  );

  it('have no cursor for an impossible time', () => {
    expect(readCursor('9999-99-99T99:99:99Z~x')).toBeNull();
  });
});
