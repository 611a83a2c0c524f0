import type { FixRunDto } from '#common/api/quick-fixes.ts';
import { useFixProgress } from '../../data/videos/fix-progress.ts';
import { quickFixTexts } from '../../texts/quick-fixes.ts';
import { WorkProgress } from '../work-progress.tsx';

/** What the work of a request is called. */
export interface RunTexts {
  /** Accessible name of the bar. */
  readonly progress: string;
  readonly working: (percent: number) => string;
  readonly workingFor: (percent: number, secondsLeft: number | null) => string;
  readonly waiting: string;
  /** Accessible name of the button that stops it. */
  readonly cancelLabel: string;
}

interface RunProgressProps {
  readonly run: FixRunDto;
  readonly texts: RunTexts;
  readonly cancelling: boolean;
  readonly onCancel: () => void;
}

/** How far a request for a new version is, with a button to cancel it. */
export function RunProgress({ run, texts, cancelling, onCancel }: RunProgressProps) {
  const { percent, estimated } = useFixProgress(run.progress, run.revision);
  // A bar that the timer moved ahead waits there; the text states what the server has measured.
  const shown = Math.round(estimated ? percent : run.progress);
  const words =
    run.state === 'working' ? texts.workingFor(shown, run.remainingSeconds) : (run.message ?? texts.waiting);
  return (
    <WorkProgress
      note={estimated ? quickFixTexts.estimated(shown) : words}
      label={texts.progress}
      percent={percent}
      valueText={texts.working(shown)}
      stop={{ label: texts.cancelLabel, isPending: cancelling, onStop: onCancel }}
    />
  );
}
