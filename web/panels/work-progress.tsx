import styled from 'styled-components';
import { Button } from '../components/button.tsx';
import { ThreadProgress } from '../components/thread-progress.tsx';
import { formTexts } from '../texts/forms.ts';
import { space } from '../theme.ts';
import { Note } from './panel-parts.tsx';

const Line = styled.div`
  display: flex;
  align-items: center;
  justify-content: space-between;
  gap: ${space(1)};
  min-height: 44px;
`;

interface WorkProgressProps {
  /** How far it is, in words. */
  readonly note: string;
  /** Name of the bar. */
  readonly label: string;
  readonly percent: number;
  readonly valueText: string;
  /** How it can be stopped; without it it cannot. */
  readonly stop?: {
    /** Name of the button, beginning with its word. */
    readonly label: string;
    readonly isPending: boolean;
    readonly onStop: () => void;
  };
}

/** Something that was asked for and is being made: how far it is, and its way out. */
export function WorkProgress({ note, label, percent, valueText, stop }: WorkProgressProps) {
  return (
    <div>
      <Line>
        <Note>{note}</Note>
        {stop && (
          <Button
            look="secondary"
            size="s"
            icon="close"
            aria-label={stop.label}
            disabled={stop.isPending}
            onClick={stop.onStop}
          >
            {formTexts.cancel}
          </Button>
        )}
      </Line>
      <ThreadProgress label={label} percent={percent} valueText={valueText} />
    </div>
  );
}
