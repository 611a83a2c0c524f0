import { describe, expect, it } from 'vitest';
import { fromRbsp } from '../h264/nal.ts';
import { onlyMessages, SEI } from './sei.ts';

const message = (type: number, payload: readonly number[]) => [type, payload.length, ...payload];
const unit = (...messages: readonly number[][]) => fromRbsp(Buffer.from([0x4e, 1, ...messages.flat(), 0x80]));

const CAPTIONS = message(SEI.registeredUserData, [0xb5, 0, 0x31, 0, 0, 1]);
const LIGHT = message(SEI.contentLight, [3, 232, 0, 200]);
const DISPLAY = message(
  SEI.masteringDisplay,
  Array.from({ length: 24 }, (_, index) => index),
);
const OWN = message(5, [1, 2, 3]);

describe('onlyMessages', () => {
  it('keeps the wanted messages of a unit and omits the others', () => {
    const all = unit(OWN, DISPLAY, LIGHT, CAPTIONS);
    expect(onlyMessages(all, [SEI.masteringDisplay, SEI.contentLight])).toEqual(unit(DISPLAY, LIGHT));
    expect(onlyMessages(all, [SEI.registeredUserData])).toEqual(unit(CAPTIONS));
    expect(onlyMessages(all, [SEI.ambientViewing])).toBeNull();
  });

  it('reads types and sizes above 254', () => {
    const long = [255, 10, 255, 45, ...Array.from({ length: 300 }, () => 7)];
    expect(onlyMessages(unit(OWN, long), [265])).toEqual(unit(long));
  });

  it('returns nothing for other units and for messages that are cut off', () => {
    const all = unit(DISPLAY);
    const slice = Buffer.from(all);
    slice[0] = 0x02;
    expect(onlyMessages(slice, [SEI.masteringDisplay])).toBeNull();
    expect(onlyMessages(all.subarray(0, 12), [SEI.masteringDisplay])).toBeNull();
    expect(onlyMessages(all.subarray(0, 2), [SEI.masteringDisplay])).toBeNull();
  });
});
