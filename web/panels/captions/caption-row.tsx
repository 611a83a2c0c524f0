import { type KeyboardEvent, memo, useEffect, useRef } from 'react';
import styled from 'styled-components';
import { CAPTION_LIMITS, type CueProblemKind, type VideoCue } from '#common/captions.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icons.tsx';
import {
  addCueAfter,
  formatCueTime,
  mergeWithNext,
  readingOf,
  removeCue,
  setText,
  splitCue,
} from '../../data/captions/caption-edits.ts';
import type { CaptionAction } from '../../data/captions/caption-history.ts';
import { captionTexts as texts } from '../../texts/captions.ts';
import { colour, figures, radius, screen, space, text } from '../../theme.ts';
import type { CaptionPlayer } from './caption-editor.tsx';
import { CueTimes } from './cue-times.tsx';

const Row = styled.div<{ $selected: boolean; $played: boolean }>`
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: ${space(0.75, 1.5)};
  padding: ${space(1)};
  border-left: 3px solid
    ${({ $selected, $played }) => ($played ? colour.live : $selected ? colour.thread : 'transparent')};
  background: ${({ $selected }) => ($selected ? colour.hover : 'transparent')};
  ${screen.tablet} {
    grid-template-columns: 148px minmax(0, 1fr);
  }
`;
const Jump = styled.button`
  ${figures}
  justify-self: start;
  align-self: start;
  display: flex;
  flex-wrap: wrap;
  gap: ${space(0, 1)};
  min-height: 44px;
  align-items: center;
  padding: ${space(0.5, 0.75)};
  border: 0;
  border-radius: ${radius.s};
  background: transparent;
  color: ${colour.inkSoft};
  font-size: ${text.s};
  text-align: left;
  cursor: pointer;
  &:hover {
    background: ${colour.hover};
    color: ${colour.ink};
  }
  b {
    color: ${colour.ink};
  }
`;
const Playing = styled.span`
  color: ${colour.live};
`;
const Words = styled.textarea`
  width: 100%;
  min-height: 52px;
  padding: ${space(0.75, 1)};
  border: 1px solid ${colour.lineStrong};
  border-radius: ${radius.s};
  background: ${colour.cloth};
  color: ${colour.ink};
  font: inherit;
  resize: vertical;
  field-sizing: content;
  &::placeholder {
    color: ${colour.inkFaint};
  }
  &[aria-invalid='true'] {
    border-color: ${colour.defect};
  }
`;
const Main = styled.div`
  display: grid;
  gap: ${space(0.5)};
  min-width: 0;
`;
const Meta = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(0.25, 1)};
  font-size: ${text.s};
  color: ${colour.inkFaint};
`;
const Problem = styled.span`
  color: ${colour.defect};
`;
const Deeds = styled.div`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(0.5)};
`;

/** Words of a speech engine with a lower confidence are marked, so that people check them. */
const UNSURE = 0.6;

interface CaptionRowProps {
  readonly cue: VideoCue;
  readonly index: number;
  /** Number of cues in the whole list. */
  readonly count: number;
  readonly isSelected: boolean;
  /** Whether the player is inside this cue. */
  readonly isPlayed: boolean;
  /** Number of the focus request; 0 for none. */
  readonly takeFocus: number;
  /** Whether that request is still open; the call closes it. */
  readonly grantFocus: (wish: number) => boolean;
  readonly problem: CueProblemKind | null;
  readonly act: (action: CaptionAction) => void;
  readonly player: CaptionPlayer;
}

/** One cue: jump to it, edit its words and, while it is selected, its times and more. */
export const CaptionRow = memo(function CaptionRow(props: CaptionRowProps) {
  const { cue, index, count, isSelected, isPlayed, takeFocus, grantFocus, problem, act, player } = props;
  const isLast = index === count - 1;
  const field = useRef<HTMLTextAreaElement>(null);
  const n = index + 1;
  useEffect(() => {
    if (takeFocus > 0 && grantFocus(takeFocus)) field.current?.focus();
  }, [takeFocus, grantFocus]);

  const split = (): void => {
    const cursor = field.current && cue.text !== null ? field.current.selectionStart : null;
    act({
      do: 'edit',
      edit: (cues) =>
        cues.length < CAPTION_LIMITS.cues
          ? { cues: splitCue(cues, index, cursor), selected: index + 1 }
          : null,
      say: texts.did.split,
      sayNone: texts.did.full,
    });
  };
  const onward = (): void =>
    act({
      do: 'edit',
      edit: (cues) => {
        const added = cues.length < CAPTION_LIMITS.cues ? addCueAfter(cues, index) : null;
        if (added) return { cues: added.cues, selected: added.index };
        return isLast ? null : { cues, selected: index + 1 };
      },
      sayNone: texts.did.noRoom,
    });
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.key !== 'Enter' || event.shiftKey || event.altKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (event.ctrlKey || event.metaKey) split();
    else onward();
  };
  const choose = (): void => act({ do: 'select', index });
  const notesId = `cue-notes-${index}`;
  return (
    <Row $selected={isSelected} $played={isPlayed} data-played={isPlayed || undefined}>
      <Jump
        type="button"
        aria-label={texts.jump(n, formatCueTime(cue.startMs))}
        onClick={() => {
          choose();
          player.seek(cue.startMs);
        }}
      >
        <b>{n}</b>
        <span>{formatCueTime(cue.startMs)}</span>
        <span>{formatCueTime(cue.endMs)}</span>
        {isPlayed && (
          <Playing title={texts.playing}>
            <Icon name="play" size={14} />
          </Playing>
        )}
      </Jump>
      <Main>
        <Words
          ref={field}
          rows={1}
          dir="auto"
          value={cue.text ?? ''}
          placeholder={texts.wordsUnknown}
          aria-label={texts.words(n)}
          aria-describedby={notesId}
          aria-invalid={problem ? true : undefined}
          onFocus={choose}
          onKeyDown={onKeyDown}
          onChange={(event) => {
            const words = event.target.value;
            act({
              do: 'edit',
              edit: (cues) => ({ cues: setText(cues, index, words) }),
              joins: `words ${index}`,
            });
          }}
        />
        <Notes id={notesId} cue={cue} problem={problem} />
        {isSelected && (
          <>
            <CueTimes cue={cue} index={index} act={act} player={player} />
            <Deeds>
              <Button look="quiet" size="s" aria-label={texts.splitLabel(n)} onClick={split}>
                {texts.split}
              </Button>
              {!isLast && (
                <Button
                  look="quiet"
                  size="s"
                  aria-label={texts.mergeLabel(n)}
                  onClick={() =>
                    act({
                      do: 'edit',
                      edit: (cues) => ({ cues: mergeWithNext(cues, index), selected: index }),
                      say: texts.did.merge,
                    })
                  }
                >
                  {texts.merge}
                </Button>
              )}
              <Button
                look="quiet"
                size="s"
                icon="trash"
                aria-label={texts.removeLabel(n)}
                onClick={() =>
                  act({
                    do: 'edit',
                    edit: (cues) => ({ cues: removeCue(cues, index), selected: isLast ? index - 1 : index }),
                    say: texts.did.remove,
                  })
                }
              >
                {texts.remove}
              </Button>
            </Deeds>
          </>
        )}
      </Main>
    </Row>
  );
});

interface NotesProps {
  readonly id: string;
  readonly cue: VideoCue;
  readonly problem: CueProblemKind | null;
}

function Notes({ id, cue, problem }: NotesProps) {
  const { chars, charsPerSecond, hints } = readingOf(cue);
  const source = cue.text === null ? null : texts.sources[cue.source];
  return (
    <Meta id={id}>
      {chars > 0 && <span>{texts.figures(chars, charsPerSecond)}</span>}
      {source !== null && <span>{source}</span>}
      {cue.confidence !== null && cue.confidence < UNSURE && <Badge tone="warn">{texts.unsure}</Badge>}
      {hints.map((hint) => (
        <Problem key={hint}>{texts.hints[hint]}</Problem>
      ))}
      {problem && <Problem>{texts.problems[problem]}</Problem>}
    </Meta>
  );
}
