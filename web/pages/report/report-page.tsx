import { Link, useParams } from 'react-router-dom';
import { buildPath } from '#common/api/endpoint.ts';
import { certificatePath } from '#common/api/certificates.ts';
import { videosApi } from '#common/api/videos.ts';
import { BackLink } from '../../components/back-link.tsx';
import { Button, ButtonLink } from '../../components/button.tsx';
import { Icon } from '../../components/icons.tsx';
import { NotFound } from '../../components/not-found.tsx';
import { PageHeading } from '../../components/page.tsx';
import { useVideo } from '../../data/videos/video-by-id.ts';
import { useReport, tellsOfCurrent } from '../../data/videos/videos.ts';
import { DownloadButton } from '../../panels/download-button.tsx';
import { FailedClip } from '../../panels/failed-clip.tsx';
import { LimitedExportNote } from '../../panels/limited-export-note.tsx';
import { PlatformList } from '../../panels/quick-fixes/platform-list.tsx';
import { failureOf } from '../../texts/failures.ts';
import { noticedTexts } from '../../texts/noticed.ts';
import { reportTexts as texts } from '../../texts/report.ts';
import { Comparison } from './comparison.tsx';
import { DefectPictures } from './defect-pictures.tsx';
import { MarkedReports } from './marked-reports.tsx';
import { MendAnyway } from './mend-anyway.tsx';
import { printPage } from './print-page.ts';
import { ReportBody } from './report-body.tsx';
import { ReportComing } from './report-coming.tsx';
import { Frame, Head, Onward, Quiet, Save, Tools } from './report-parts.ts';

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
  const video = useVideo(id);
  const version = video?.resultSha256 ?? '';
  const { data: report, isError, refetch } = useReport(id, Boolean(video?.hasReport), version);
  if (video === null) return <NotFound text={texts.noVideo} />;
  const name = video?.originalFileName ?? '';
  // Quick fixes have made another version since; the signed one is that of the report.
  const isOlder = Boolean(video && report && !tellsOfCurrent(report, video));
  return (
    <Frame>
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
      {(isError || (!report && (video === undefined || video.hasReport))) && (
        <ReportComing hasFailed={isError} onRetry={() => void refetch()} />
      )}
      {report && (
        <>
          <ReportBody
            report={report}
            before={
              <>
                {isOlder && <p>{texts.older}</p>}
                {isOlder && <MarkedReports videoId={id} />}
                {video && <LimitedExportNote video={video} />}
              </>
            }
            compared={video && <Comparison video={video} defects={report.defects} />}
            pictures={
              <>
                <DefectPictures
                  videoId={id}
                  defects={report.defects}
                  ratio={(video?.width ?? 16) / (video?.height ?? 9)}
                />
                {!isOlder && <PlatformList file={report.result} roomy />}
              </>
            }
            // Another version has other times than the report's.
            onward={
              video?.status === 'completed' && !isOlder
                ? (defect) => <MendAnyway video={video} defect={defect} defects={report.defects} />
                : undefined
            }
          />
          {video?.status === 'completed' && (
            <p>
              <Onward to={`/editor/${id}#noticed`}>{noticedTexts.title}</Onward>
            </p>
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
