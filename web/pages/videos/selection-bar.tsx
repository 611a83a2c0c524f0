import styled from 'styled-components';
import type { VideoDto } from '#common/api/videos.ts';
import { Button } from '../../components/button.tsx';
import { useDownloadVideo } from '../../data/videos/download.ts';
import { useDeleteVideo } from '../../data/videos/videos.ts';
import { videoTexts } from '../../texts/videos.ts';
import { colour, radius, space } from '../../theme.ts';

const { library: texts } = videoTexts;

const Bar = styled.div`
  /* After the cards, and at the lower edge of the screen while they continue below it, so that selecting moves none
     of them. */
  position: sticky;
  z-index: 20;
  bottom: max(${space(1)}, env(safe-area-inset-bottom));
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(1)};
  margin-top: ${space(2)};
  padding: ${space(1, 1, 1, 2)};
  border-radius: ${radius.s};
  border: 1px solid ${colour.lineStrong};
  background: ${colour.raised};
  box-shadow: 0 8px 24px rgb(0 0 0 / 0.18);
  & > :first-child {
    margin-right: auto;
  }
`;

/** Actions on several videos at once. */
export function SelectionBar({
  videos,
  onClear,
}: {
  readonly videos: VideoDto[];
  readonly onClear: () => void;
}) {
  const download = useDownloadVideo('library');
  const remove = useDeleteVideo();
  const ready = videos.filter(({ status }) => status === 'completed');
  const downloadAll = async (): Promise<void> => {
    // One after the other, because browsers drop downloads that start at the same instant.
    for (const { id } of ready) await download(id);
  };
  const deleteAll = async (): Promise<void> => {
    if (!window.confirm(texts.deleteManyConfirm(videos.length))) return;
    onClear();
    for (const { id } of videos) await remove.mutateAsync(id).catch(() => undefined);
  };
  return (
    <Bar>
      <span role="status">{texts.selected(videos.length)}</span>
      <Button
        size="s"
        look="secondary"
        icon="download"
        disabled={ready.length === 0}
        onClick={() => void downloadAll()}
      >
        {texts.downloadSelected}
      </Button>
      <Button size="s" look="danger" icon="trash" onClick={() => void deleteAll()}>
        {texts.deleteSelected}
      </Button>
      <Button size="s" look="quiet" onClick={onClear}>
        {texts.clearSelection}
      </Button>
    </Bar>
  );
}
