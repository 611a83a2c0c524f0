import { formatMegabytes } from '#common/format.ts';
import { DASHBOARD_LIST_LENGTH } from '#common/limits.ts';
import { countFixes } from '#common/video.ts';
import { IconButton } from '../../components/button.tsx';
import { useDownloadVideo } from '../../data/videos/download.ts';
import { useVideos } from '../../data/videos/videos.ts';
import { landingTexts } from '../../texts/landing.ts';
import { RecentList, Row, RowFacts, RowName } from './recent-list.tsx';

const { dashboard: texts } = landingTexts;

/** The newest finished videos. */
export function RecentVideos() {
  const query = useVideos('dashboard');
  const download = useDownloadVideo('dashboard');
  const videos = (query.data ?? [])
    .filter(({ status }) => status === 'completed')
    .slice(0, DASHBOARD_LIST_LENGTH);
  return (
    <RecentList
      title={texts.recentVideos}
      empty={texts.noVideos}
      signedIn
      query={query}
      rows={videos.map((video) => (
        <Row key={video.id}>
          <div>
            <RowName dir="auto" title={video.originalFileName}>
              {video.originalFileName}
            </RowName>
            <RowFacts>
              {texts.fixes(countFixes(video.fixesApplied))} · {formatMegabytes(video.fileSize)}
            </RowFacts>
          </div>
          <IconButton
            icon="download"
            label={texts.download(video.originalFileName)}
            onClick={() => void download(video.id)}
          />
        </Row>
      ))}
    />
  );
}
