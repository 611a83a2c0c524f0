import { Button } from '../components/button.tsx';
import { NoteLine } from '../components/note-line.tsx';
import { ThreadProgress } from '../components/thread-progress.tsx';
import { formTexts } from '../texts/forms.ts';
import { Note } from './panel-parts.tsx';

/** Of a `WorkProgress` whose note takes one line: that line, as high as a button, and the thread below it. */
export const WORK_HEIGHT = '72px';

interface WorkProgressProps {
  /** Progress in words. */
  readonly note: string;
  /** Accessible name of the bar. */
  readonly label: string;
  readonly percent: number;
  readonly valueText: string;
  /** How it can be stopped; if omitted, it cannot be. */
  readonly stop?: {
    /** Accessible name of the button, starting with its visible word. */
    readonly label: string;
    readonly isPending: boolean;
    readonly onStop: () => void;
  };
}

/** Requested work in progress: how far it is, and a button to cancel it. */
export function WorkProgress({ note, label, percent, valueText, stop }: WorkProgressProps) {
  return (
    <div>
      <NoteLine $fixedStart={false}>
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
      </NoteLine>
      <ThreadProgress label={label} percent={percent} valueText={valueText} />
    </div>
  );
}
