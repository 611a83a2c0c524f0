import { type KeyboardEvent, useState } from 'react';
import styled from 'styled-components';
import type { VideoCue } from '#common/captions.ts';
import { Button } from '../../components/button.tsx';
import { Input } from '../../components/field.tsx';
import { formatCueTime, parseCueTime, setTimes } from '../../data/captions/caption-edits.ts';
import type { CaptionAction } from '../../data/captions/caption-history.ts';
import { captionTexts as texts } from '../../texts/captions.ts';
import { colour, figures, space, text } from '../../theme.ts';
import type { CaptionPlayer } from './caption-editor.tsx';

const Fields = styled.div`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(1, 2)};
`;
const Time = styled.div`
  display: grid;
  gap: ${space(0.5)};
  label {
    font-size: ${text.s};
    font-weight: 600;
  }
  & > div {
    display: flex;
    align-items: center;
    gap: ${space(0.5)};
  }
  input {
    ${figures}
    width: 118px;
    min-height: 44px;
    padding: 0 ${space(1)};
  }
  p {
    font-size: ${text.s};
    color: ${colour.defect};
  }
`;

interface CueTimesProps {
  readonly cue: VideoCue;
  readonly index: number;
  readonly act: (action: CaptionAction) => void;
  readonly player: CaptionPlayer;
}

/** Start and end of the selected cue, typed or taken from the player. */
export function CueTimes({ cue, index, act, player }: CueTimesProps) {
  const set = (times: { startMs?: number; endMs?: number }): void =>
    act({ do: 'edit', edit: (cues) => ({ cues: setTimes(cues, index, times) }) });
  return (
    <Fields>
      <TimeField
        which="start"
        index={index}
        ms={cue.startMs}
        player={player}
        onSet={(startMs) => set({ startMs })}
      />
      <TimeField which="end" index={index} ms={cue.endMs} player={player} onSet={(endMs) => set({ endMs })} />
    </Fields>
  );
}

interface TimeFieldProps {
  readonly which: 'start' | 'end';
  readonly index: number;
  readonly ms: number;
  readonly player: CaptionPlayer;
  readonly onSet: (ms: number) => void;
}

function TimeField({ which, index, ms, player, onSet }: TimeFieldProps) {
  // Typed text stays until the field is left; null shows the cue's own time.
  const [typed, setTyped] = useState<string | null>(null);
  const parsed = typed === null ? ms : parseCueTime(typed);
  const id = `cue-${which}-${index}`;
  const leave = (): void => {
    if (typed === null || parsed === null) return;
    setTyped(null);
    if (parsed !== ms) onSet(parsed);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>): void => {
    if (event.key === 'Enter') leave();
    if (event.key === 'Escape') setTyped(null);
  };
  return (
    <Time>
      <label htmlFor={id}>{texts[which]}</label>
      <div>
        <Input
          id={id}
          value={typed ?? formatCueTime(ms)}
          inputMode="decimal"
          autoComplete="off"
          aria-label={texts.timeLabel(which, index + 1)}
          aria-invalid={parsed === null ? true : undefined}
          aria-describedby={parsed === null ? `${id}-why` : undefined}
          onChange={(event) => setTyped(event.target.value)}
          onBlur={leave}
          onKeyDown={onKeyDown}
        />
        <Button
          look="quiet"
          size="s"
          aria-label={texts.useNowLabel(which, index + 1)}
          onClick={() => {
            setTyped(null);
            onSet(Math.round(player.nowMs()));
          }}
        >
          {texts.useNow}
        </Button>
      </div>
      {parsed === null && (
        <p id={`${id}-why`} role="alert">
          {texts.badTime}
        </p>
      )}
    </Time>
  );
}
