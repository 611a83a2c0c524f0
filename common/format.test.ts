import { describe, expect, it } from 'vitest';
import { confidenceLabel, formatBytes, formatMegabytes, formatTimecode, remainingMinutes } from './format.ts';

describe('formatBytes', () => {
  it.each([
    [0, '0 Bytes'],
    [1, '1 Bytes'],
    [1023, '1023 Bytes'],
    [1024, '1 KB'],
    [1536, '1.5 KB'],
    [1048576, '1 MB'],
    [1073741824, '1 GB'],
    [2147483648, '2 GB'],
  ])('shows %i as %s', (bytes, text) => expect(formatBytes(bytes)).toBe(text));

  it('does not fail on a size that is not a number', () => expect(formatBytes(Number.NaN)).toBe('0 Bytes'));
});

describe('formatMegabytes', () => {
  it('always uses MB with one decimal', () => {
    expect(formatMegabytes(1024)).toBe('0.0 MB');
    expect(formatMegabytes(5.25 * 1024 ** 2)).toBe('5.3 MB');
  });
});

describe('remainingMinutes', () => {
  it.each([
    [1, 1],
    [60, 1],
    [61, 2],
    [120, 2],
    [121, 3],
    [0, 1],
  ])('rounds %i s up to %i min', (seconds, minutes) => expect(remainingMinutes(seconds)).toBe(minutes));

  it('is two while unknown', () => {
    expect(remainingMinutes(null)).toBe(2);
    expect(remainingMinutes(undefined)).toBe(2);
    expect(remainingMinutes(Number.POSITIVE_INFINITY)).toBe(2);
  });
});

describe('confidenceLabel', () => {
  it.each([
    [100, 'High'],
    [80, 'High'],
    [79.5, 'Medium'],
    [60, 'Medium'],
    [59.9, 'Low'],
    [0, 'Low'],
  ])('calls %f %s', (value, label) => expect(confidenceLabel(value).label).toBe(label));
});

describe('formatTimecode', () => {
  it('shows minutes, seconds and milliseconds, hours only when there are any', () => {
    expect(formatTimecode(0)).toBe('0:00.000');
    expect(formatTimecode(12_345)).toBe('0:12.345');
    expect(formatTimecode(59_999.6)).toBe('1:00.000');
    expect(formatTimecode(3_600_000)).toBe('1:00:00.000');
    expect(formatTimecode(-5)).toBe('0:00.000');
  });
});
