import { type KeyboardEvent, useId, useRef, useState } from 'react';
import styled, { css } from 'styled-components';
import { playerTexts } from '../../texts/player.ts';
import { colour, figures, screen, space, text } from '../../theme.ts';
import { OUTCOME_COLOUR, type ThreadMark } from '../thread-strip.tsx';
import { formatMark } from '../time-text.ts';
import { usePointer } from '../use-pointer.ts';
import { useWidth } from '../use-width.ts';
import { BUTTON_PX, layOutMarks, type MarkSlot } from './mark-layout.ts';
import { MarkGroup } from './mark-group.tsx';

const Jumps = styled.ul<{ $lanes: number; $buttonPx: number }>`
  position: relative;
  /* One lane is always reserved, so that the report's arrival rarely moves the controls. */
  height: ${({ $lanes, $buttonPx }) => Math.max(1, $lanes) * $buttonPx}px;
`;
const target = css<{ $colour: string }>`
  position: absolute;
  display: grid;
  place-items: center;
  padding: 0;
  border: 0;
  background: none;
  color: ${({ $colour }) => $colour};
`;
const Jump = styled.button<{ $colour: string }>`
  ${target}
  &::before {
    content: '';
    width: 100%;
    height: 4px;
    border-radius: 2px;
    background: currentColor;
    opacity: 0.6;
    transition: height 0.15s var(--ease);
  }
  &:hover::before,
  &:focus-visible::before,
  &[aria-current='true']::before {
    height: 8px;
    opacity: 1;
  }
`;
const Open = styled.button<{ $colour: string }>`
  ${target}
  span {
    ${figures}
    display: grid;
    place-items: center;
    /* The outline is slightly narrower than the hit area, so that neighbours stay apart. */
    width: calc(100% - 3px);
    height: 20px;
    border: 1.5px solid currentColor;
    border-radius: 10px;
    background: ${colour.raised};
    color: ${colour.ink};
    font-size: ${text.xs};
    line-height: 1;
    border-color: ${({ $colour }) => $colour};
  }
  &:hover span,
  &[aria-current='true'] span {
    background: ${colour.hover};
    border-width: 2.5px;
  }
  &[aria-expanded='true'] span {
    background: ${colour.thread};
    border-color: ${colour.thread};
    color: ${colour.onThread};
  }
`;
const Facts = styled.p`
  display: -webkit-box;
  -webkit-box-orient: vertical;
  -webkit-line-clamp: 3;
  overflow: hidden;
  /* The lines are reserved, so that nothing below moves when another mark is described. */
  min-height: 3lh;
  margin-top: ${space(0.5)};
  ${screen.tablet} {
    -webkit-line-clamp: 2;
    min-height: 2lh;
  }
  font-size: ${text.s};
  color: ${colour.inkSoft};
`;

interface MarkJumpsProps {
  readonly marks: readonly ThreadMark[];
  readonly durationMs: number;
  /** Current time of the clip; the mark there is described. Omitted where nothing plays. */
  readonly currentMs?: number;
  readonly onJump: (mark: ThreadMark) => void;
}

/**
 * Buttons below the marks of the timeline, in as many rows as keep them apart. Marks too close for that share one
 * button with their number, which expands them. A line below describes the mark that is hovered, focused or playing.
 */
export function MarkJumps({ marks, durationMs, currentMs, onJump }: MarkJumpsProps) {
  const list = useRef<HTMLUListElement>(null);
  const opener = useRef<HTMLButtonElement>(null);
  const groupId = useId();
  const pointer = usePointer();
  const buttonPx = BUTTON_PX[pointer];
  const widthPx = useWidth(list, 640);
  const [pointed, setPointed] = useState<string | null>(null);
  const [focused, setFocused] = useState<string | null>(null);
  /** Id of the first mark in the expanded group. */
  const [openedAt, setOpenedAt] = useState<string | null>(null);
  const { slots, lanes } = layOutMarks(marks, { durationMs, widthPx }, pointer);
  const opened = slots.find((slot) => slot.marks.length > 1 && slot.marks.some(({ id }) => id === openedAt));
  const playing = currentMs === undefined ? undefined : markAt(marks, currentMs);
  const chosen = pointed ?? focused;
  const shown = marks.find(({ id }) => id === chosen) ?? (chosen === null ? playing : undefined);
  const shownGroup = slots.find((slot) => slot.marks.length > 1 && keyOf(slot) === chosen);
  const watch = (key: string) => ({
    onPointerEnter: () => setPointed(key),
    onPointerLeave: () => setPointed(null),
    onFocus: () => setFocused(key),
    onBlur: () => setFocused(null),
  });
  const close = (): void => {
    setOpenedAt(null);
    opener.current?.focus();
  };
  const closeByKey = (event: KeyboardEvent): void => {
    if (event.key !== 'Escape' || !opened) return;
    event.stopPropagation();
    close();
  };
  return (
    <div>
      <Jumps ref={list} aria-label={playerTexts.defects} $lanes={lanes} $buttonPx={buttonPx}>
        {slots.map((slot) => {
          const [mark] = slot.marks;
          const place = {
            top: slot.lane * buttonPx,
            left: slot.leftPx,
            width: slot.widthPx,
            height: buttonPx,
          };
          const isCurrent = playing !== undefined && slot.marks.includes(playing) ? 'true' : undefined;
          if (slot.marks.length === 1)
            return (
              <li key={mark.id}>
                <Jump
                  type="button"
                  data-drawn=""
                  $colour={OUTCOME_COLOUR[mark.outcome]}
                  aria-label={playerTexts.jump(mark.label)}
                  aria-current={isCurrent}
                  style={place}
                  onClick={() => onJump(mark)}
                  {...watch(mark.id)}
                />
              </li>
            );
          return (
            <li key={keyOf(slot)}>
              <Open
                type="button"
                ref={slot === opened ? opener : undefined}
                data-drawn=""
                $colour={OUTCOME_COLOUR[worstOf(slot)]}
                aria-label={playerTexts.openGroup(groupLabel(slot))}
                aria-current={isCurrent}
                aria-expanded={slot === opened}
                aria-controls={slot === opened ? groupId : undefined}
                style={place}
                onClick={() => setOpenedAt(slot === opened ? null : mark.id)}
                onKeyDown={closeByKey}
                {...watch(keyOf(slot))}
              >
                <span>{slot.marks.length}</span>
              </Open>
            </li>
          );
        })}
      </Jumps>
      {opened && (
        <MarkGroup
          // Another group starts at its first mark.
          key={keyOf(opened)}
          id={groupId}
          label={groupLabel(opened)}
          marks={opened.marks}
          playing={playing}
          onJump={onJump}
          onClose={close}
          onKeyDown={closeByKey}
          watch={watch}
        />
      )}
      {marks.length > 0 && (
        <Facts data-testid="mark-facts">
          {shown ? (
            <>
              {shown.label}
              {shown.meaning !== undefined && (
                <>
                  {' · '}
                  {shown.meaning}
                </>
              )}
            </>
          ) : shownGroup ? (
            groupLabel(shownGroup)
          ) : (
            playerTexts.marks(marks.length)
          )}
        </Facts>
      )}
    </div>
  );
}

const keyOf = ({ marks: [first] }: MarkSlot): string => `group-${first.id}`;

/** Says how many marks there are, where, and how many of them were not repaired. */
function groupLabel({ marks }: MarkSlot): string {
  const endMs = Math.max(...marks.map((mark) => mark.endMs));
  const left = marks.filter(({ outcome }) => outcome === 'left_alone').length;
  return playerTexts.group(marks.length, formatMark(marks[0].startMs), formatMark(endMs), left);
}

/** The outcome that colours a group: a remaining defect must stand out among repaired ones. */
function worstOf({ marks }: MarkSlot): ThreadMark['outcome'] {
  const has = (outcome: ThreadMark['outcome']) => marks.some((mark) => mark.outcome === outcome);
  return (['left_alone', 'found', 'flagged'] as const).find(has) ?? 'repaired';
}

/** The mark at a time; if several overlap, the shortest, because long ones are present all the time. */
function markAt(marks: readonly ThreadMark[], ms: number): ThreadMark | undefined {
  return marks
    .filter(({ startMs, endMs }) => ms >= startMs - 1 && ms <= Math.max(endMs, startMs + 40))
    .toSorted((a, b) => a.endMs - a.startMs - (b.endMs - b.startMs))[0];
}
