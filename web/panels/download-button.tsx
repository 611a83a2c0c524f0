import type { VideoDto } from '#common/api/videos.ts';
import { Button } from '../components/button.tsx';
import { useDownloadVideo } from '../data/videos/download.ts';
import { videoTexts } from '../texts/videos.ts';

interface DownloadButtonProps {
  readonly video: VideoDto;
  readonly size?: 's' | 'm';
}

/** Saves the repaired clip; states the size if the plan limits it. */
export function DownloadButton({ video, size = 'm' }: DownloadButtonProps) {
  const download = useDownloadVideo('library');
  const shortSide = video.limitedExport?.shortSide;
  const { download: label } = videoTexts.card;
  return (
    <Button size={size} icon="download" onClick={() => void download(video.id)}>
      {shortSide === undefined ? label : videoTexts.limited.label(label, shortSide)}
    </Button>
  );
}
