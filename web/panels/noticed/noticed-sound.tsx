import { type KeyboardEvent, useId } from 'react';
import styled from 'styled-components';
import { MOST_SOUND_SHIFT_MS } from '#common/noticed.ts';
import { Input } from '../../components/field.tsx';
import { noticedTexts } from '../../texts/noticed.ts';
import { colour, figures, radius, space, stitchLine, text } from '../../theme.ts';
import { Note } from '../panel-parts.tsx';
import { Part } from './noticed-parts.tsx';

const { sound: texts } = noticedTexts;

/** Farthest that the thread moves the sound, ms; beyond it a number is typed. */
const THREAD_END_MS = 500;
const THREAD_STEP_MS = 10;

const Track = styled.div`
  position: relative;
  height: 44px;
  &:has(input:focus-visible) {
    outline: 2px solid ${colour.liveThread};
    border-radius: ${radius.s};
  }
  input {
    position: absolute;
    inset: 0;
    width: 100%;
    height: 100%;
    margin: 0;
    opacity: 0;
    cursor: pointer;
    &:disabled {
      cursor: not-allowed;
    }
  }
`;
const Chalk = styled.span`
  ${stitchLine}
  position: absolute;
  inset: 21px 0 auto;
  color: ${colour.chalk};
`;
const Middle = styled.span`
  position: absolute;
  left: calc(50% - 1px);
  top: 14px;
  width: 2px;
  height: 16px;
  background: ${colour.chalk};
`;
const Moved = styled.span`
  position: absolute;
  top: 20.5px;
  height: 3px;
  border-radius: 2px;
  background: ${colour.liveThread};
`;
const Needle = styled.span`
  position: absolute;
  top: 10px;
  width: 5px;
  height: 24px;
  margin-left: -2.5px;
  border-radius: 2px;
  background: ${colour.thread};
`;
const Scale = styled.div`
  display: grid;
  grid-template-columns: 1fr auto 1fr;
  font-size: ${text.s};
  color: ${colour.inkSoft};
  span:last-child {
    text-align: end;
  }
`;
const Typed = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(0.5, 1)};
  label {
    font-size: ${text.s};
    font-weight: 600;
  }
  input {
    ${figures}
    width: 118px;
    min-height: 44px;
    padding: 0 ${space(1)};
  }
`;
/* Room for two lines, whichever of the sentences stands here. */
const Effect = styled.p<{ $bad: boolean }>`
  min-height: 3em;
  font-weight: 600;
  color: ${({ $bad }) => ($bad ? colour.defect : colour.ink)};
`;

/** Whole milliseconds that the sound may be moved by, as typed; null for anything else. Nothing typed moves nothing. */
export function parseShift(typed: string): number | null {
  const words = typed.trim();
  if (words === '') return 0;
  if (!/^[+-]?\d+$/.test(words)) return null;
  const ms = Number(words);
  return Math.abs(ms) <= MOST_SOUND_SHIFT_MS ? ms + 0 : null;
}

interface NoticedSoundProps {
  readonly shiftMs: number;
  /** What stands in the number field while it is typed in; null shows the shift. */
  readonly typed: string | null;
  readonly isFixed: boolean;
  readonly onShift: (ms: number) => void;
  readonly onTyped: (typed: string | null) => void;
}

/** Moves the sound earlier or later, along a thread or by a number, and says in words what that does. */
export function NoticedSound({ shiftMs, typed, isFixed, onShift, onTyped }: NoticedSoundProps) {
  const id = useId();
  const isBad = typed !== null && parseShift(typed) === null;
  const isTyping = typed !== null && (isBad || parseShift(typed) === shiftMs);
  const drawnMs = Math.min(THREAD_END_MS, Math.max(-THREAD_END_MS, shiftMs));
  const needle = 50 + (drawnMs / THREAD_END_MS) * 50;
  const effect = texts.effect(shiftMs);
  const type = (words: string): void => {
    onTyped(words);
    const ms = parseShift(words);
    if (ms !== null) onShift(ms);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>): void => {
    if (event.key === 'Escape') onTyped(null);
  };
  return (
    <Part>
      <legend>{texts.title}</legend>
      <Note>{texts.help}</Note>
      <div>
        <Track>
          <Chalk />
          <Middle />
          <Moved style={{ left: `${Math.min(50, needle)}%`, width: `${Math.abs(needle - 50)}%` }} />
          <Needle style={{ left: `${needle}%` }} />
          <input
            type="range"
            min={-THREAD_END_MS}
            max={THREAD_END_MS}
            step={THREAD_STEP_MS}
            value={drawnMs}
            disabled={isFixed}
            aria-label={texts.range}
            aria-valuetext={effect}
            onChange={(event) => {
              onTyped(null);
              onShift(event.target.valueAsNumber);
            }}
          />
        </Track>
        <Scale aria-hidden="true">
          {texts.scale.map((words) => (
            <span key={words}>{words}</span>
          ))}
        </Scale>
      </div>
      <Typed>
        <Input
          id={`${id}-number`}
          type="number"
          min={-MOST_SOUND_SHIFT_MS}
          max={MOST_SOUND_SHIFT_MS}
          step={1}
          value={isTyping ? typed : String(shiftMs)}
          disabled={isFixed}
          aria-label={texts.numberLabel}
          aria-invalid={isBad ? true : undefined}
          aria-describedby={`${id}-effect`}
          onChange={(event) => type(event.target.value)}
          onBlur={() => !isBad && onTyped(null)}
          onKeyDown={onKeyDown}
        />
        <label htmlFor={`${id}-number`}>{texts.number}</label>
      </Typed>
      <Effect id={`${id}-effect`} $bad={isBad} role={isBad ? 'alert' : undefined}>
        {isBad ? texts.bad : effect}
      </Effect>
      <Note>{texts.after}</Note>
    </Part>
  );
}
