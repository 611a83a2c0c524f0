import styled from 'styled-components';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icons.tsx';
import type { SaveState } from '../../data/captions/caption-saver.ts';
import { captionTexts as texts } from '../../texts/captions.ts';
import { colour, space, text } from '../../theme.ts';

const Line = styled.div<{ $bad: boolean }>`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(1)};
  min-height: 36px;
  font-size: ${text.s};
  color: ${({ $bad }) => ($bad ? colour.defect : colour.inkSoft)};
  span {
    display: inline-flex;
    align-items: center;
    gap: ${space(0.75)};
  }
`;

function wordsOf(save: SaveState, firstProblem: number | null): string {
  switch (save.kind) {
    case 'saved':
      return save.at === null ? texts.unchanged : texts.saved(clock(save.at));
    case 'saving':
      return texts.saving;
    case 'held':
      return texts.held((firstProblem ?? 0) + 1);
    case 'offline':
      return texts.offline;
    case 'refused':
      return texts.refused(save.message);
    case 'conflict':
      return texts.conflict;
  }
}

function clock(iso: string): string {
  return new Date(iso).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}

interface CaptionSaveLineProps {
  readonly save: SaveState;
  readonly firstProblem: number | null;
  readonly onKeepMine: () => void;
  readonly onTakeTheirs: () => void;
  readonly onAgain: () => void;
}

/** Says whether the changes are on the server, and what to do if not. */
export function CaptionSaveLine({
  save,
  firstProblem,
  onKeepMine,
  onTakeTheirs,
  onAgain,
}: CaptionSaveLineProps) {
  const bad = save.kind !== 'saved' && save.kind !== 'saving';
  return (
    <Line $bad={bad}>
      <span role="status">
        {bad && <Icon name="alert" size={17} />}
        {save.kind === 'saved' && save.at !== null && <Icon name="check" size={17} />}
        {wordsOf(save, firstProblem)}
      </span>
      {save.kind === 'conflict' && (
        <>
          <Button look="secondary" size="s" onClick={onKeepMine}>
            {texts.keepMine}
          </Button>
          <Button look="secondary" size="s" onClick={onTakeTheirs}>
            {texts.takeTheirs}
          </Button>
        </>
      )}
      {(save.kind === 'offline' || save.kind === 'refused') && (
        <Button look="secondary" size="s" icon="retry" onClick={onAgain}>
          {texts.retry}
        </Button>
      )}
    </Line>
  );
}
