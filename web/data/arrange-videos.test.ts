import { describe, expect, it } from 'vitest';
import { NO_ISSUES } from '#common/video.ts';
import { makeVideo } from '../test/samples.ts';
import { arrangeVideos, PLAIN_ARRANGEMENT } from './arrange-videos.ts';

const VIDEOS = [
  makeVideo({ id: 'aa1', originalFileName: 'Take 10.mp4', createdAt: '2026-01-01', fileSize: 5 }),
  makeVideo({
    id: 'bb2',
    originalFileName: 'take 2.mp4',
    createdAt: '2026-03-01',
    fileSize: 9,
    issues: { ...NO_ISSUES, windNoise: true },
  }),
  makeVideo({
    id: 'cc3',
    originalFileName: 'harbour.mov',
    createdAt: '2026-02-01',
    fileSize: 1,
    status: 'processing',
    issues: null,
  }),
];
const ids = (change: Partial<typeof PLAIN_ARRANGEMENT>) =>
  arrangeVideos(VIDEOS, { ...PLAIN_ARRANGEMENT, ...change }).map(({ id }) => id);

describe('arrangeVideos', () => {
  it('sorts newest first unless told otherwise', () => {
    expect(ids({})).toEqual(['bb2', 'cc3', 'aa1']);
    expect(ids({ sort: 'oldest' })).toEqual(['aa1', 'cc3', 'bb2']);
    expect(ids({ sort: 'size' })).toEqual(['bb2', 'aa1', 'cc3']);
  });

  it('sorts names as people count', () => {
    expect(ids({ sort: 'name' })).toEqual(['cc3', 'bb2', 'aa1']);
  });

  it('searches names and the start of ids without case', () => {
    expect(ids({ search: ' TAKE ' })).toEqual(['bb2', 'aa1']);
    expect(ids({ search: 'cc' })).toEqual(['cc3']);
    expect(ids({ search: 'nothing' })).toEqual([]);
  });

  it('filters by status and by defect; an unanalysed video has no verdict', () => {
    expect(ids({ status: 'processing' })).toEqual(['cc3']);
    expect(ids({ defect: 'windNoise' })).toEqual(['bb2']);
    expect(ids({ defect: 'none' })).toEqual(['aa1']);
  });
});
