import { useNavigate } from 'react-router-dom';
import styled from 'styled-components';
import type { VideoDto } from '#common/api/videos.ts';
import { IconButton } from '../../components/button.tsx';
import { useDownloadVideo } from '../../data/download.ts';
import { useAddToDrafts } from '../../data/drafts.ts';
import { useDeleteVideo } from '../../data/videos.ts';
import { videoTexts } from '../../texts/videos.ts';
import { ShareMenu } from './share-menu.tsx';

const { card: texts } = videoTexts;

const Row = styled.div`
  display: flex;
  flex-wrap: wrap;
`;

interface CardActionsProps {
  readonly video: VideoDto;
  readonly onRename: () => void;
}

/** The small buttons of a card; what needs a finished video is shown disabled with the reason (D-85). */
export function CardActions({ video, onRename }: CardActionsProps) {
  const navigate = useNavigate();
  const download = useDownloadVideo('library');
  const addToDrafts = useAddToDrafts();
  const remove = useDeleteVideo();
  const { id, originalFileName: fileName } = video;
  const shortSide = video.limitedExport?.shortSide;
  const downloadLabel =
    shortSide === undefined ? texts.download : videoTexts.limited.label(texts.download, shortSide);
  const unfinished = video.status !== 'completed';
  const reason = (label: string): string => (unfinished ? `${label}: ${texts.completedOnly}` : label);
  return (
    <Row>
      <IconButton icon="pencil" label={texts.rename} onClick={onRename} />
      <IconButton
        icon="editor"
        label={texts.edit}
        title={reason(texts.edit)}
        disabled={unfinished}
        onClick={() => void navigate(`/editor/${id}`)}
      />
      <IconButton
        icon="download"
        label={downloadLabel}
        title={reason(downloadLabel)}
        disabled={unfinished}
        onClick={() => void download(id)}
      />
      <IconButton
        icon="cloud"
        label={texts.drafts}
        disabled={addToDrafts.isPending}
        onClick={() => addToDrafts.mutate({ videoId: id, fileName })}
      />
      {video.hasReport && (
        <IconButton
          icon="report"
          label={texts.report}
          onClick={() => void navigate(`/videos/${id}/report`)}
        />
      )}
      <ShareMenu video={video} />
      <IconButton
        icon="trash"
        label={texts.delete}
        tone="danger"
        disabled={remove.isPending}
        onClick={() => {
          if (window.confirm(videoTexts.deleteConfirm(fileName))) remove.mutate(id);
        }}
      />
    </Row>
  );
}
