import { useState } from 'react';
import { Link, useParams } from 'react-router-dom';
import styled from 'styled-components';
import { buildPath } from '#common/api/endpoint.ts';
import { certificatePath } from '#common/api/certificates.ts';
import { videosApi } from '#common/api/videos.ts';
import type { RepairReport } from '#common/report.ts';
import { BackLink } from '../../components/back-link.tsx';
import { Button, ButtonLink } from '../../components/button.tsx';
import { Icon } from '../../components/icons.tsx';
import { NotFound } from '../../components/not-found.tsx';
import { PageColumn, PageHeading } from '../../components/page.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { useVideo } from '../../data/videos/video-by-id.ts';
import { useReport, tellsOfCurrent } from '../../data/videos/videos.ts';
import { DownloadButton } from '../../panels/download-button.tsx';
import { FailedClip } from '../../panels/failed-clip.tsx';
import { LimitedExportNote } from '../../panels/limited-export-note.tsx';
import { PlatformList } from '../../panels/quick-fixes/platform-list.tsx';
import { failureOf } from '../../texts/failures.ts';
import { outcomeOf } from '../../texts/outcomes.ts';
import { noticedTexts } from '../../texts/noticed.ts';
import { reportTexts as texts } from '../../texts/report.ts';
import { colour, space, text } from '../../theme.ts';
import { Comparison } from './comparison.tsx';
import { CurveCharts } from './curve-chart.tsx';
import { DefectPictures } from './defect-pictures.tsx';
import { DefectTable } from './defect-table.tsx';
import { MendAnyway } from './mend-anyway.tsx';
import { expertFigures } from './expert.ts';
import { KindSummary } from './kind-summary.tsx';
import { printPage } from './print-page.ts';
import { ReportAxis } from './report-axis.tsx';
import { ReportFacts } from './report-facts.tsx';

const Frame = styled(PageColumn)`
  ${expertFigures}
  h2 {
    font-size: ${text.xl};
  }
  @media print {
    padding: 0;
    /* Avoids a heading at the bottom of a printed page, and prints the thread, which is drawn with backgrounds that
       browsers omit by default. */
    print-color-adjust: exact;
    h2 {
      break-after: avoid;
    }
  }
`;
const Head = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: end;
  justify-content: space-between;
  gap: ${space(2)};
`;
/* The button is only for the screen: paper shows every figure. */
const Row = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: space-between;
  gap: ${space(1, 2)};
  @media print {
    button {
      display: none;
    }
  }
`;
const Tools = styled.div`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(1)};
  @media print {
    display: none;
  }
`;
const Save = styled.a`
  display: inline-flex;
  align-items: center;
  gap: ${space(1)};
  min-height: 44px;
  padding: 0 ${space(1)};
  font-weight: 600;
`;
/* Leads on in the application, so paper does without it. */
const Onward = styled.p`
  a {
    display: inline-flex;
    align-items: center;
    min-height: 44px;
    font-weight: 600;
  }
  @media print {
    display: none;
  }
`;
const Quiet = styled.p`
  color: ${colour.inkSoft};
  font-size: ${text.s};
`;

/**
 * The outcome of the clip, and of each defect that was not repaired; "nothing was wrong" is said only without defects.
 */
function summary({ outcome, defects, lostEnds }: RepairReport): string {
  const all = defects.map((defect) => outcomeOf(defect.outcome, defect.action));
  const count = (wanted: ReturnType<typeof outcomeOf>) => all.filter((one) => one === wanted).length;
  const mended = count('repaired');
  // A clip that was cut off is told by what it lacks.
  const cutOff = defects.filter(({ action }) => action === 'rebuilt_rest').length;
  const playable = count('concealed') - cutOff;
  const left = count('left_alone');
  const noted = count('flagged');
  const unchanged = outcome === 'unchanged';
  if (unchanged && left + noted === 0) return texts.unchanged;
  return [
    lostEnds ? texts.cutOff(Math.max(lostEnds.pictureMs, lostEnds.soundMs) / 1000) : '',
    unchanged ? texts.notChanged : '',
    mended > 0 ? texts.repaired(mended) : '',
    playable > 0 ? texts.playable(playable) : '',
    !unchanged && !lostEnds && mended + playable === 0 ? texts.converted : '',
    left > 0 ? texts.leftAlone(left) : '',
    noted > 0 ? texts.noted(noted) : '',
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}

function AnotherClip({ first }: { readonly first: boolean }) {
  return (
    <ButtonLink to="/#upload" icon="upload" look={first ? 'primary' : 'secondary'}>
      {texts.failedWays.another}
    </ButtonLink>
  );
}

function noneText(status: string): string {
  if (status === 'completed') return texts.none.completed;
  return status === 'failed' ? texts.none.failed : texts.none.processing;
}

/** The report of one repair: every claim with its figures, printable, with the JSON it is made from. */
export function ReportPage() {
  const { id = '' } = useParams();
  const [figures, setFigures] = useState(false);
  const [whole, setWhole] = useState(false);
  const video = useVideo(id);
  const version = video?.resultSha256 ?? '';
  const { data: report, isError, refetch } = useReport(id, Boolean(video?.hasReport), version);
  if (video === null) return <NotFound text={texts.noVideo} />;
  const name = video?.originalFileName ?? '';
  // Quick fixes have made another version since; the signed one is that of the report.
  const isOlder = Boolean(video && report && !tellsOfCurrent(report, video));
  return (
    <Frame data-figures={figures ? 'on' : 'off'}>
      <Head>
        <div>
          <BackLink to="/videos">{texts.back}</BackLink>
          <PageHeading title={texts.pageTitle(name)}>{texts.title}</PageHeading>
          <Quiet>{name}</Quiet>
        </div>
        {report && (
          <Tools>
            {video?.status === 'completed' && <DownloadButton video={video} />}
            <Button look="secondary" onClick={() => void printPage()}>
              {texts.print}
            </Button>
            {!isOlder && (
              <Save href={buildPath(certificatePath, { id })} download={`certificate-${id}.json`}>
                <Icon name="shield" />
                {texts.certificate}
              </Save>
            )}
            <Save href={buildPath(videosApi.report.path, { id })} download={`report-${id}.json`}>
              <Icon name="download" />
              {texts.json}
            </Save>
          </Tools>
        )}
      </Head>
      {video && !video.hasReport && (
        <>
          <p>{noneText(video.status)}</p>
          {video.status === 'failed' && (
            <FailedClip
              video={video}
              another={<AnotherClip key="another" first={!failureOf(video).again} />}
              more={
                <ButtonLink to="/drafts" look="quiet">
                  {texts.failedWays.backup}
                </ButtonLink>
              }
            />
          )}
          {video.status === 'completed' && <Link to={`/editor/${id}`}>{texts.toEditor}</Link>}
        </>
      )}
      {isError && (
        <p role="alert">
          {texts.failed}{' '}
          <Button size="s" icon="retry" look="secondary" onClick={() => void refetch()}>
            {texts.retry}
          </Button>
        </p>
      )}
      {!report && !isError && (video === undefined || video.hasReport) && (
        <div role="status">
          <p>{texts.loading}</p>
          <Skeleton $height="180px" />
        </div>
      )}
      {report && (
        <>
          <p>
            <strong>{summary(report)}</strong>
          </p>
          <KindSummary defects={report.defects} />
          {isOlder && <p>{texts.older}</p>}
          {video && <LimitedExportNote video={video} />}
          <ReportAxis report={report} onUnfold={() => setWhole(true)} />
          {video && <Comparison video={video} defects={report.defects} />}
          <Row>
            <h2>{texts.defects.title}</h2>
            <Button
              size="s"
              look="secondary"
              aria-expanded={figures}
              onClick={() => setFigures((shown) => !shown)}
            >
              {figures ? texts.figures.hide : texts.figures.show}
            </Button>
          </Row>
          <DefectTable
            defects={report.defects}
            whole={whole}
            onWhole={setWhole}
            // Another version has other times than the report's.
            onward={
              video?.status === 'completed' && !isOlder
                ? (defect) => <MendAnyway video={video} defect={defect} defects={report.defects} />
                : undefined
            }
          />
          <CurveCharts defects={report.defects} durationMs={report.original.media.durationMs} />
          <DefectPictures
            videoId={id}
            defects={report.defects}
            ratio={(video?.width ?? 16) / (video?.height ?? 9)}
          />
          {!isOlder && <PlatformList file={report.result} roomy />}
          <ReportFacts report={report} />
          {report.notes.length > 0 && (
            <div>
              <h2>{texts.notes}</h2>
              <ul>
                {report.notes.map((note) => (
                  <li key={note}>{note}</li>
                ))}
              </ul>
            </div>
          )}
          {video?.status === 'completed' && (
            <Onward>
              <Link to={`/editor/${id}#noticed`}>{noticedTexts.title}</Link>
            </Onward>
          )}
          <Quiet>
            {texts.madeWith(report.tools.reelmend, report.tools.ffmpeg)}. {texts.verify}{' '}
            <Link to="/verify">{texts.certificateCheck}</Link>
          </Quiet>
        </>
      )}
    </Frame>
  );
}
