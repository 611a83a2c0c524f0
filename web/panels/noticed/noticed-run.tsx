import styled from 'styled-components';
import {
  type ClipVersionDto,
  type FixOutcome,
  type FixRunDto,
  ORIGINAL_VERSION,
} from '#common/api/quick-fixes.ts';
import { isAtWork } from '#common/is-at-work.ts';
import { Badge } from '../../components/badge.tsx';
import { Button, ButtonLink } from '../../components/button.tsx';
import { NoteLine } from '../../components/note-line.tsx';
import { noticedTexts as texts } from '../../texts/noticed.ts';
import { quickFixTexts } from '../../texts/quick-fixes.ts';
import { colour, screen, space, text } from '../../theme.ts';
import { Failure, Note } from '../panel-parts.tsx';
import { FixFigures, MEASURED_HEIGHT } from '../quick-fixes/fix-figures.tsx';
import { badgeOfOutcome } from '../quick-fixes/outcome-badge.ts';
import { endOf } from '../quick-fixes/run-end.ts';
import { RunProgress } from '../quick-fixes/run-progress.tsx';
import { WORK_HEIGHT } from '../work-progress.tsx';

/** Keeps the room of the progress when that has ended, so that nothing below it moves. */
const Course = styled.div`
  min-height: ${WORK_HEIGHT};
  button {
    flex: none;
    min-height: 44px;
  }
`;
const Ways = styled.div`
  display: flex;
  flex: none;
  gap: ${space(0.5)};
`;
/* As high while it is worked on as with most outcomes: the name, and as many lines as a sentence takes. */
const Outcomes = styled.ul`
  li {
    display: grid;
    grid-template-rows: auto minmax(calc(4.5 * ${text.s}), auto) minmax(${MEASURED_HEIGHT}, auto);
    ${screen.tablet} {
      grid-template-rows: auto minmax(calc(3 * ${text.s}), auto) minmax(${MEASURED_HEIGHT}, auto);
    }
    gap: ${space(0.5)};
    padding: ${space(1, 0)};
    border-top: 1px dashed ${colour.chalk};
  }
  p {
    font-size: ${text.s};
    color: ${colour.inkSoft};
    overflow-wrap: anywhere;
  }
`;
const Head = styled.div`
  display: grid;
  justify-items: start;
  gap: ${space(0.25, 1)};
  ${screen.tablet} {
    grid-template-columns: minmax(0, 1fr) auto;
    align-items: center;
  }
  strong {
    font-weight: 600;
  }
`;

/** A version that a request made, and the one that was current before. */
export interface MadeVersion {
  readonly made: ClipVersionDto;
  readonly before: string;
}

/** The version that a finished request made, and where its undoing leads. Null when nothing was made. */
export function madeVersion(run: FixRunDto | null, versions: readonly ClipVersionDto[]): MadeVersion | null {
  if (run?.state !== 'done' || run.resultVersionId === null) return null;
  const made = versions.find(({ id }) => id === run.resultVersionId);
  return made ? { made, before: run.sourceVersionId ?? ORIGINAL_VERSION } : null;
}

interface NoticedRunProps {
  readonly videoId: string;
  /** Null until the server has told of a request that was just sent. */
  readonly run: FixRunDto | null;
  /** What was asked for, or what became of it. */
  readonly outcomes: readonly FixOutcome[];
  readonly result: MadeVersion | null;
  readonly cancelling: boolean;
  readonly restoring: boolean;
  readonly onCancel: () => void;
  readonly onTakeBack: (versionId: string) => void;
}

/** How far the mending is, then what became of each thing that was noticed, with the way back. */
export function NoticedRun(props: NoticedRunProps) {
  const { videoId, run, outcomes, result, cancelling, restoring, onCancel, onTakeBack } = props;
  const atWork = run === null || isAtWork(run);
  return (
    <div>
      <Course>
        {!run && <Note>{texts.asking}</Note>}
        {run && atWork && (
          <RunProgress
            key={run.jobId}
            run={run}
            texts={texts.run}
            cancelling={cancelling}
            onCancel={onCancel}
          />
        )}
        {run && !atWork && (
          <NoteLine $fixedStart={false}>
            {run.state === 'failed' ? (
              <Failure>{run.message ?? texts.end.failed}</Failure>
            ) : (
              <Note>{result && !result.made.current ? texts.takenBack : endOf(run, texts.end)}</Note>
            )}
            {result?.made.current && (
              <Ways>
                {result.made.hasReport && (
                  <ButtonLink
                    look="quiet"
                    size="s"
                    aria-label={texts.reportLabel}
                    to={`/videos/${videoId}/report/${result.made.id}`}
                  >
                    {texts.report}
                  </ButtonLink>
                )}
                <Button
                  look="secondary"
                  size="s"
                  disabled={restoring}
                  onClick={() => onTakeBack(result.before)}
                >
                  {texts.takeBack}
                </Button>
              </Ways>
            )}
          </NoteLine>
        )}
      </Course>
      <Outcomes aria-label={texts.outcomes}>
        {outcomes.map((outcome) => (
          <OutcomeLine
            key={outcome.id}
            outcome={run?.state === 'cancelled' ? { ...outcome, state: 'failed', detail: '' } : outcome}
            atWork={atWork}
          />
        ))}
      </Outcomes>
    </div>
  );
}

function OutcomeLine({ outcome, atWork }: { readonly outcome: FixOutcome; readonly atWork: boolean }) {
  const { tone, icon, word } = badgeOfOutcome(outcome, atWork);
  return (
    <li>
      <Head>
        <strong>{quickFixTexts.label(outcome.id)}</strong>
        <Badge tone={tone} icon={icon}>
          {word}
        </Badge>
      </Head>
      <p>{atWork ? '' : outcome.detail}</p>
      {!atWork && <FixFigures label={quickFixTexts.label(outcome.id)} outcome={outcome} />}
    </li>
  );
}
