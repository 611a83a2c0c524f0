import { Link, useParams } from 'react-router-dom';
import { certificatesApi, versionCertificatePath } from '#common/api/certificates.ts';
import { buildPath } from '#common/api/endpoint.ts';
import { BackLink } from '../../components/back-link.tsx';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icons.tsx';
import { NotFound } from '../../components/not-found.tsx';
import { PageHeading } from '../../components/page.tsx';
import { useVersionReport } from '../../data/videos/version-report.ts';
import { useVideo } from '../../data/videos/video-by-id.ts';
import { reportTexts as texts } from '../../texts/report.ts';
import { ComparedFiles } from './compared-files.tsx';
import { printPage } from './print-page.ts';
import { ReportBody } from './report-body.tsx';
import { ReportComing } from './report-coming.tsx';
import { Frame, Head, Quiet, Save, Tools } from './report-parts.ts';

const { marked } = texts;

/** The report of one version that was made where somebody marked something in the one before. */
export function MarkedReportPage() {
  const { id = '', versionId = '' } = useParams();
  const video = useVideo(id);
  const { data: report, isError, refetch } = useVersionReport(id, versionId);
  if (video === null) return <NotFound text={texts.noVideo} />;
  if (report === null) return <NotFound text={marked.none} />;
  const name = video?.originalFileName ?? '';
  const params = { id, versionId };
  return (
    <Frame>
      <Head>
        <div>
          <BackLink to={`/videos/${id}/report`}>{marked.back}</BackLink>
          <PageHeading title={marked.pageTitle(name)}>{marked.title}</PageHeading>
          <Quiet>{name}</Quiet>
        </div>
        {report && (
          <Tools>
            <Button look="secondary" onClick={() => void printPage()}>
              {texts.print}
            </Button>
            <Save href={buildPath(versionCertificatePath, params)} download={`certificate-${versionId}.json`}>
              <Icon name="shield" />
              {texts.certificate}
            </Save>
            <Save
              href={buildPath(certificatesApi.versionReport.path, params)}
              download={`report-${versionId}.json`}
            >
              <Icon name="download" />
              {texts.json}
            </Save>
          </Tools>
        )}
      </Head>
      {(isError || !report) && <ReportComing hasFailed={isError} onRetry={() => void refetch()} />}
      {report && (
        <>
          <ReportBody report={report} before={<p>{marked.lead}</p>} />
          {video && <ComparedFiles video={video} report={report} />}
          <Quiet>
            {texts.madeWith(report.tools.reelmend, report.tools.ffmpeg)}. {marked.verify}{' '}
            <Link to="/verify">{texts.certificateCheck}</Link>
          </Quiet>
        </>
      )}
    </Frame>
  );
}
