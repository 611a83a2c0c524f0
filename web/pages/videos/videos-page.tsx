import { PageHeading, PageMain } from '../../components/page.tsx';
import { videoTexts } from '../../texts/videos.ts';

export function VideosPage() {
  return (
    <PageMain>
      <PageHeading title={videoTexts.library.title}>{videoTexts.library.title}</PageHeading>
    </PageMain>
  );
}
