import { describe, expect, it } from 'vitest';
import { createRateMeter, RATE_HALF_LIFE_MS } from './rate-meter.ts';

describe('createRateMeter', () => {
  it('knows no speed before two readings', () => {
    const meter = createRateMeter();
    expect(meter.bytesPerSecond()).toBeNull();
    meter.add(1000, 0);
    expect(meter.bytesPerSecond()).toBeNull();
  });

  it('finds a steady speed', () => {
    const meter = createRateMeter();
    for (let step = 0; step <= 20; step += 1) meter.add(step * 500, step * 500);
    expect(meter.bytesPerSecond()).toBeCloseTo(1000, 6);
  });

  it('is half way to a new speed after one half-life', () => {
    const meter = createRateMeter();
    meter.add(0, 0);
    meter.add(1000, 1000);
    meter.add(1000, 1000 + RATE_HALF_LIFE_MS);
    expect(meter.bytesPerSecond()).toBeCloseTo(500, 6);
  });

  it('restarts without a negative speed when bytes are sent again', () => {
    const meter = createRateMeter();
    meter.add(0, 0);
    meter.add(8000, 1000);
    meter.add(4000, 2000);
    meter.add(5000, 3000);
    expect(meter.bytesPerSecond()).toBeGreaterThan(0);
  });
});
