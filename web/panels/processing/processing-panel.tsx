import { useEffect, useRef, useState } from 'react';
import { Link } from 'react-router-dom';
import styled from 'styled-components';
import type { StatusDto } from '#common/api/videos.ts';
import { remainingMinutes } from '#common/format.ts';
import type { LiveFindings } from '#common/live-findings.ts';
import type { RepairReport } from '#common/report.ts';
import { PROCESSING_STEPS } from '#common/video.ts';
import { Button, ButtonLink } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Icon } from '../../components/icons.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { ThreadProgress } from '../../components/thread-progress.tsx';
import { liveMarksOf, marksOf } from '../../components/defect-marks.ts';
import { ApiError } from '../../data/api-client.ts';
import { useDownloadVideo } from '../../data/videos/download.ts';
import { useReport, useVideoStatus } from '../../data/videos/videos.ts';
import { landingTexts } from '../../texts/landing.ts';
import { videoTexts } from '../../texts/videos.ts';
import { colour, figures, screen, space, text } from '../../theme.ts';
import { ConnectionLine } from '../connection-line.tsx';
import { FailedClip } from '../failed-clip.tsx';
import { DefectList } from './defect-list.tsx';
import { LiveFindingsList } from './live-findings-list.tsx';
import { StepList } from './step-list.tsx';

const { processing: texts } = landingTexts;

const Panel = styled(Card)`
  display: grid;
  gap: ${space(2.5)};
  min-height: 444px;
  align-content: start;
`;
const Head = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(1, 2)};
  /* On a phone a separate row of one line: the name may arrive later than the rest and must not move it. */
  h2 {
    flex: 1 1 100%;
    font-size: ${text.xl};
    min-width: 0;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
    ${screen.tablet} {
      flex: 1 1 0;
    }
  }
  & > :last-child {
    margin-left: auto;
  }
`;
const Numbers = styled.p`
  display: flex;
  flex-wrap: wrap;
  justify-content: space-between;
  gap: ${space(0, 2)};
  align-content: start;
  /* Two lines on a phone, so that a later second line moves nothing. */
  min-height: 48px;
  ${screen.tablet} {
    min-height: 24px;
  }
  color: ${colour.inkSoft};
  b {
    ${figures}
    color: ${colour.ink};
    white-space: nowrap;
  }
`;
const Columns = styled.div`
  display: grid;
  gap: ${space(3, 6)};
  align-items: start;
  ${screen.desktop} {
    grid-template-columns: minmax(0, 1fr) minmax(0, 1fr);
  }
`;
const Result = styled.div`
  display: grid;
  gap: ${space(2.5)};
`;
const Outcome = styled.div`
  display: grid;
  gap: ${space(1)};
  p {
    display: flex;
    gap: ${space(1)};
    align-items: center;
  }
  p:first-child {
    font-weight: 650;
    font-size: ${text.l};
  }
`;
const Actions = styled.div`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(1.5)};
`;
const Failure = styled.p`
  color: ${colour.defect};
`;

function stepLabel(status: StatusDto): string {
  const step = PROCESSING_STEPS.find(({ id }) => id === status.currentStep);
  if (step) return step.label;
  if (status.errorMessage) return status.errorMessage;
  return status.queuePosition === null ? texts.queued : videoTexts.queued(status.queuePosition);
}

function Completed({ id, comparable }: { readonly id: string; readonly comparable: boolean }) {
  const download = useDownloadVideo('dashboard');
  return (
    <>
      <Outcome role="status">
        <p>
          <Icon name="check" />
          {texts.complete}
        </p>
        <p>
          <Icon name="shield" />
          {texts.fixed}
        </p>
        <p>
          <Icon name="download" />
          {texts.ready}
        </p>
      </Outcome>
      <Actions>
        <Button icon="download" onClick={() => void download(id)}>
          {texts.download}
        </Button>
        {comparable && (
          <ButtonLink to={`/editor/${id}?view=compare`} look="secondary" icon="play">
            {texts.compare}
          </ButtonLink>
        )}
        <ButtonLink to="/videos" look={comparable ? 'quiet' : 'secondary'}>
          {texts.library}
        </ButtonLink>
      </Actions>
    </>
  );
}

/** Whether something was repaired, so that before and after can be compared; the report arrives a moment later. */
function isComparable(report: RepairReport | undefined, live: LiveFindings | null): boolean {
  if (report) return report.defects.some(({ outcome }) => outcome === 'repaired');
  return live?.defects.some(({ state }) => state === 'repaired') ?? false;
}

interface ProcessingPanelProps {
  readonly id: string;
  /** Name of the clip, if the list already has it. */
  readonly name: string | undefined;
  readonly hasReport: boolean;
  /** Scrolls the panel into view once. */
  readonly reveal: boolean;
  /** Called when the video no longer exists. */
  readonly onGone: () => void;
}

/** One clip being repaired: the thread, the six steps, the time left, and the result. */
export function ProcessingPanel({ id, name, hasReport, reveal, onGone }: ProcessingPanelProps) {
  const { data: status, error } = useVideoStatus(id);
  const done = status?.status === 'completed';
  const { data: report } = useReport(id, done && hasReport, String(status?.version ?? 0));
  const gone = error instanceof ApiError && error.status === 404;
  useEffect(() => {
    if (gone) onGone();
  }, [gone, onGone]);
  // A clip that was just uploaded may start below the fold.
  const panel = useRef<HTMLElement>(null);
  const show = reveal && status !== undefined;
  useEffect(() => {
    if (show) panel.current?.scrollIntoView?.({ block: 'nearest', behavior: 'smooth' });
  }, [show]);
  // The findings end with the repair, and the report takes a moment to load: until then their marks stay.
  const live = status?.findings ?? null;
  const [found, setFound] = useState(live);
  if (live !== null && live !== found) setFound(live);
  if (!status)
    return (
      <Panel aria-busy="true">
        {error ? <Failure role="alert">{texts.unavailable}</Failure> : <Skeleton $height="36px" />}
      </Panel>
    );
  const shown = done ? (live ?? found) : live;
  const working = status.status === 'processing';
  const label = done ? texts.complete : stepLabel(status);
  return (
    <Panel ref={panel} aria-label={texts.heading}>
      <Head>
        <h2 title={name}>{name ?? texts.heading}</h2>
        <StatusBadge status={status.status} />
        <ConnectionLine />
      </Head>
      <ThreadProgress
        label={texts.label}
        percent={done ? 100 : status.progress}
        valueText={texts.valueText(label.replace(/\.{3}$/, ''), Math.round(status.progress))}
        marks={report ? marksOf(report.defects) : liveMarksOf(shown?.defects ?? [])}
        durationMs={report?.original.media.durationMs ?? shown?.durationMs ?? null}
        size="l"
        live={working}
      />
      <Numbers>
        <span>{working ? label : ''}</span>
        <span>
          {working && texts.remaining(remainingMinutes(status.estimatedTimeRemaining))}{' '}
          <b>{Math.round(done ? 100 : status.progress)} %</b>
        </span>
      </Numbers>
      <Columns>
        <StepList status={status} />
        <Result>
          {working && <LiveFindingsList findings={status.findings ?? null} />}
          {done && <Completed id={id} comparable={isComparable(report, shown)} />}
          {status.status === 'failed' && (
            <FailedClip
              video={status}
              headline={`${texts.failed} ${status.errorMessage || texts.unknownError}`}
            />
          )}
          {report && <Link to={`/videos/${id}/report`}>{videoTexts.card.report}</Link>}
          {report && <DefectList defects={report.defects} unchanged={report.outcome === 'unchanged'} />}
        </Result>
      </Columns>
    </Panel>
  );
}
