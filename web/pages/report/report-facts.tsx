import styled from 'styled-components';
import type { MediaSummary, RepairReport, StreamTreatment } from '#common/report.ts';
import { formatBytes, formatTimecode } from '#common/format.ts';
import { PROCESSING_STEPS } from '#common/video.ts';
import { FactSheet } from '../../components/fact-sheet.tsx';
import { Icon } from '../../components/icons.tsx';
import { type Compared, reportTexts as texts } from '../../texts/report.ts';
import { colour, screen, space, text } from '../../theme.ts';
import { EXPERT } from './expert.ts';

const Grid = styled.div`
  display: grid;
  gap: ${space(2)};
  ${screen.desktop} {
    grid-template-columns: 1fr 1fr;
    & > :last-child:nth-child(odd) {
      grid-column: 1 / -1;
    }
  }
  @media print {
    grid-template-columns: 1fr 1fr;
  }
`;
const Lines = styled.ul`
  display: grid;
  gap: ${space(1)};
  font-size: ${text.s};
  li {
    display: grid;
    grid-template-columns: 20px 1fr;
    gap: ${space(1)};
  }
  svg {
    margin-top: 2px;
  }
`;
const Quiet = styled.span`
  color: ${colour.inkSoft};
`;

/** Below this share, most new pictures were encoded along with repaired ones, and not only in their places. */
const MOSTLY_KEPT = 0.9;

function isMostlyKept({ unitsKept, unitsTotal }: StreamTreatment): boolean {
  return unitsKept === null || unitsTotal === null || unitsKept >= MOSTLY_KEPT * unitsTotal;
}

interface TreatmentProps {
  readonly name: string;
  readonly stream: StreamTreatment;
  readonly compared: Compared;
  /**
   * Whether units depend on each other, so that replacing one affects others: true for pictures, false for frames of
   * sound.
   */
  readonly isLinked: boolean;
}

function Treatment({ name, stream, compared, isLinked }: TreatmentProps) {
  // Why pictures could not be kept is a matter of codecs: what it means is said first.
  const isWhole = isLinked && stream.treatment === 'full_encode';
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <strong>
          {stream.treatment === 'smart_render' && isLinked && !isMostlyKept(stream)
            ? texts.streams.encodedWith
            : texts.streams.treatments(compared)[stream.treatment]}
        </strong>
        {stream.unitsKept !== null && stream.unitsTotal !== null && (
          <>
            <div>{texts.streams.share(stream.unitsKept / Math.max(1, stream.unitsTotal), compared)}</div>
            <div className={EXPERT}>{texts.streams.kept(stream.unitsKept, stream.unitsTotal)}</div>
          </>
        )}
        {isWhole && <div>{texts.streams.whole}</div>}
        {stream.reason && <div>{isWhole ? texts.streams.detail(stream.reason) : stream.reason}</div>}
      </dd>
    </div>
  );
}

function describe(media: MediaSummary): string {
  const { named } = texts.files;
  const picture = [
    media.videoCodec && named(media.videoCodec),
    media.width && media.height ? `${media.width}×${media.height}` : null,
  ];
  const rate = media.frameRate ? texts.files.rate(media.frameRate.toFixed(2)) : null;
  const sound =
    media.audioCodec && media.sampleRateHz && media.channels
      ? texts.files.sound(named(media.audioCodec), media.sampleRateHz, media.channels)
      : texts.files.noSound;
  const parts = [named(media.container), formatTimecode(media.durationMs), ...picture, rate];
  return [...parts, media.variableFrameRate ? texts.files.variable : null, sound].filter(Boolean).join(', ');
}

/** Growth from which people ask for the reason; nobody notices a few percent. */
const NOTICED_GROWTH = 1.5;

/** Why a result is much larger than its original; null if it is not. */
function growthOf({ original, result, video }: RepairReport): string | null {
  if (video.treatment !== 'smart_render' || result.sizeBytes <= NOTICED_GROWTH * original.sizeBytes)
    return null;
  return isMostlyKept(video) ? texts.files.larger : texts.files.largerWith;
}

interface FileFactsProps {
  readonly name: string;
  readonly file: RepairReport['original'];
  readonly note?: string | null;
}

function FileFacts({ name, file, note = null }: FileFactsProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {describe(file.media)}
        <div>{formatBytes(file.sizeBytes)}</div>
        {note !== null && <Quiet as="div">{note}</Quiet>}
        <div className={EXPERT}>
          {texts.files.hash} <code>{file.sha256}</code>
        </div>
      </dd>
    </div>
  );
}

/** Streams, steps, checks and files of a report. */
export function ReportFacts({ report }: { readonly report: RepairReport }) {
  const compared = report.marked ? 'version' : 'upload';
  const meaningOf = (name: string) => texts.checks.meaning(name, compared);
  return (
    <Grid>
      <FactSheet>
        <h2>{texts.streams.title}</h2>
        <dl>
          <Treatment name={texts.streams.video} stream={report.video} compared={compared} isLinked />
          <Treatment name={texts.streams.audio} stream={report.audio} compared={compared} isLinked={false} />
        </dl>
      </FactSheet>
      <FactSheet>
        <h2>{texts.files.title}</h2>
        <dl>
          <FileFacts name={texts.files.original[compared]} file={report.original} />
          <FileFacts name={texts.files.result} file={report.result} note={growthOf(report)} />
        </dl>
      </FactSheet>
      {report.steps.length > 0 && (
        <FactSheet>
          <h2>{texts.steps.title}</h2>
          <Lines>
            {report.steps.map(({ step, state, note }) => (
              <li key={step}>
                <Icon
                  name={state === 'done' ? 'check' : state === 'failed' ? 'alert' : 'collapse'}
                  size={17}
                />
                <span>
                  {PROCESSING_STEPS.find(({ id }) => id === step)?.label}{' '}
                  <strong>{texts.steps.states[state]}</strong>
                  {note && <Quiet> · {note}</Quiet>}
                </span>
              </li>
            ))}
          </Lines>
        </FactSheet>
      )}
      {report.checks.length > 0 && (
        <FactSheet>
          <h2>{texts.checks.title}</h2>
          <Lines>
            {report.checks.map(({ name, passed, detail }) => (
              <li key={name}>
                <Icon name={passed ? 'check' : 'alert'} size={17} />
                <span>
                  {meaningOf(name) ?? name}{' '}
                  <strong>{passed ? texts.checks.passed : texts.checks.failed}</strong>
                  <Quiet className={EXPERT}>
                    {' '}
                    · {meaningOf(name) !== null && `${name}: `}
                    {detail}
                  </Quiet>
                </span>
              </li>
            ))}
          </Lines>
        </FactSheet>
      )}
    </Grid>
  );
}
