import { Button } from '../../components/button.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { reportTexts as texts } from '../../texts/report.ts';

interface ReportComingProps {
  readonly hasFailed: boolean;
  readonly onRetry: () => void;
}

/** In the place of a report that is being loaded, or could not be. */
export function ReportComing({ hasFailed, onRetry }: ReportComingProps) {
  if (hasFailed) {
    return (
      <p role="alert">
        {texts.failed}{' '}
        <Button size="s" icon="retry" look="secondary" onClick={onRetry}>
          {texts.retry}
        </Button>
      </p>
    );
  }
  return (
    <div role="status">
      <p>{texts.loading}</p>
      <Skeleton $height="180px" />
    </div>
  );
}
