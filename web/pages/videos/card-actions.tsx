import type { Ref } from 'react';
import { useNavigate } from 'react-router-dom';
import styled from 'styled-components';
import type { VideoDto } from '#common/api/videos.ts';
import { ButtonLink, IconButton } from '../../components/button.tsx';
import { useAddToDrafts } from '../../data/videos/drafts.ts';
import { videoTexts } from '../../texts/videos.ts';
import { space } from '../../theme.ts';
import { DownloadButton } from '../../panels/download-button.tsx';
import { ShareMenu } from './share-menu.tsx';

const { card: texts } = videoTexts;

const Row = styled.div`
  display: flex;
  flex-wrap: wrap;
`;
/** The main actions, in words; the icons below are for the rest. */
const First = styled.div`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(1)};
  padding: ${space(1)};
`;

interface CardActionsProps {
  readonly video: VideoDto;
  /** Gets the focus back after renaming. */
  readonly renameButton: Ref<HTMLButtonElement>;
  readonly onRename: () => void;
  readonly onDelete: () => void;
  /** True while the video is being deleted. */
  readonly deleting: boolean;
}

/**
 * Download and report in words, then the small buttons of a card; actions that need a finished video are shown disabled
 * with the reason.
 */
export function CardActions({ video, renameButton, onRename, onDelete, deleting }: CardActionsProps) {
  const navigate = useNavigate();
  const addToDrafts = useAddToDrafts();
  const { id, originalFileName: fileName } = video;
  const shortSide = video.limitedExport?.shortSide;
  const downloadLabel =
    shortSide === undefined ? texts.download : videoTexts.limited.label(texts.download, shortSide);
  const unfinished = video.status !== 'completed';
  const reason = (label: string): string => (unfinished ? `${label}: ${texts.completedOnly}` : label);
  return (
    <>
      {!unfinished && (
        <First>
          <DownloadButton size="s" video={video} />
          {video.hasReport && (
            <ButtonLink size="s" look="secondary" icon="report" to={`/videos/${id}/report`}>
              {texts.report}
            </ButtonLink>
          )}
        </First>
      )}
      <Row>
        <IconButton
          ref={renameButton}
          icon="pencil"
          label={texts.rename}
          title={texts.withKey(texts.rename, 'R')}
          aria-keyshortcuts="R"
          onClick={onRename}
        />
        <IconButton
          icon="editor"
          label={texts.edit}
          title={reason(texts.edit)}
          disabled={unfinished}
          onClick={() => void navigate(`/editor/${id}`)}
        />
        {unfinished && (
          <IconButton icon="download" label={downloadLabel} title={reason(downloadLabel)} disabled />
        )}
        <IconButton
          icon="cloud"
          label={texts.drafts}
          disabled={addToDrafts.isPending}
          onClick={() => addToDrafts.mutate({ videoId: id, fileName })}
        />
        <ShareMenu video={video} />
        <IconButton
          icon="trash"
          label={texts.delete}
          title={texts.withKey(texts.delete, 'Del')}
          aria-keyshortcuts="Delete"
          tone="danger"
          disabled={deleting}
          onClick={onDelete}
        />
      </Row>
    </>
  );
}
