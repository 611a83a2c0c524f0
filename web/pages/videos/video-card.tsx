import { type KeyboardEvent, memo, useRef, useState } from 'react';
import { Link } from 'react-router-dom';
import { buildPath } from '#common/api/endpoint.ts';
import { mediaPaths, type VideoDto } from '#common/api/videos.ts';
import { formatBytes, remainingMinutes } from '#common/format.ts';
import { SHORT_ID_LENGTH } from '#common/limits.ts';
import { PROCESSING_STEPS } from '#common/video.ts';
import { Badge } from '../../components/badge.tsx';
import { Icon } from '../../components/icons.tsx';
import { Moment } from '../../components/moment.tsx';
import { takesText } from '../../components/player/player-keys.ts';
import { Sashiko } from '../../components/sashiko.tsx';
import { StatusBadge } from '../../components/status-badge.tsx';
import { ThreadProgress } from '../../components/thread-progress.tsx';
import { liveMarksOf, marksOf } from '../../components/defect-marks.ts';
import { ThreadStrip } from '../../components/thread-strip.tsx';
import { formatMark } from '../../components/time-text.ts';
import { useSettled } from '../../components/use-settled.ts';
import { resultMark, useDeleteVideo, useRenameVideo, useReport } from '../../data/videos/videos.ts';
import { RetryButton } from '../../panels/failed-clip.tsx';
import { LimitedExportNote } from '../../panels/limited-export-note.tsx';
import { failureOf } from '../../texts/failures.ts';
import { videoTexts } from '../../texts/videos.ts';
import { CardActions } from './card-actions.tsx';
import * as Styled from './video-card.styles.ts';
import { IssueSummary } from './issue-summary.tsx';
import { RenameForm } from './rename-form.tsx';

const { card: texts } = videoTexts;

interface VideoCardProps {
  readonly video: VideoDto;
  /** ISO 8601; absent without a backup. */
  readonly backupUntil?: string | undefined;
  readonly open: boolean;
  readonly selected: boolean;
  /** Both get the video's id, so that all cards share one function and need not render again for it. */
  readonly onSelect: (id: string) => void;
  readonly onToggle: (id: string) => void;
}

function Poster({ video, open, onToggle }: Pick<VideoCardProps, 'video' | 'open' | 'onToggle'>) {
  const playable = video.status === 'completed';
  return (
    <Styled.Poster $never={video.status === 'failed' && !video.hasPoster}>
      {video.hasPoster ? (
        <img
          src={`${buildPath(mediaPaths.poster, { id: video.id })}?v=${resultMark(video)}`}
          alt={texts.poster(video.originalFileName)}
          loading="lazy"
          decoding="async"
        />
      ) : (
        <Sashiko id={`cloth-${video.id}`} />
      )}
      {playable && (
        <Styled.PlayButton
          type="button"
          aria-expanded={open}
          aria-label={open ? texts.collapse : texts.expand}
          title={open ? texts.collapse : texts.expand}
          onClick={() => onToggle(video.id)}
        >
          <Icon name={open ? 'collapse' : 'play'} size={26} />
        </Styled.PlayButton>
      )}
      {video.durationMs !== null && <Styled.Length>{formatMark(video.durationMs)}</Styled.Length>}
    </Styled.Poster>
  );
}

function Progress({ video }: { readonly video: VideoDto }) {
  const step = PROCESSING_STEPS.find(({ id }) => id === video.currentStep)?.label;
  const queued = video.queuePosition === null ? '' : videoTexts.queued(video.queuePosition);
  const label = step ?? video.errorMessage ?? queued;
  const percent = Math.round(video.progress);
  return (
    <Styled.Measured>
      <ThreadProgress
        label={video.originalFileName}
        percent={video.progress}
        valueText={`${label.replace(/\.{3}$/, '')}, ${percent} percent`}
        marks={liveMarksOf(video.findings?.defects ?? [])}
        durationMs={video.findings?.durationMs ?? null}
        size="s"
      />
      <Styled.ProgressFacts>
        <span>{label}</span>
        <span>
          {percent} % · {texts.remaining(remainingMinutes(video.estimatedTimeRemaining))}
        </span>
      </Styled.ProgressFacts>
    </Styled.Measured>
  );
}

function Outcome({ video }: { readonly video: VideoDto }) {
  const settled = useSettled();
  const { data: report } = useReport(video.id, video.hasReport && settled, resultMark(video));
  return (
    <Styled.Measured title={video.unchanged ? videoTexts.unchanged : undefined}>
      <ThreadStrip
        size="s"
        marks={report ? marksOf(report.defects) : []}
        durationMs={report?.original.media.durationMs ?? null}
      />
      <Styled.Facts>
        <span>
          {texts.size} {formatBytes(video.fileSize)}
        </span>
        <span>
          <Moment iso={video.createdAt} detail="date" />
        </span>
      </Styled.Facts>
      <LimitedExportNote video={video} />
    </Styled.Measured>
  );
}

function Failure({ video }: { readonly video: VideoDto }) {
  const { what, detail } = failureOf(video);
  return (
    <div>
      <Styled.Failure title={detail ?? undefined}>{what}</Styled.Failure>
      <Styled.Ways>
        <RetryButton size="s" video={video} />
        <Link to={`/videos/${video.id}/report`} aria-label={texts.whatNowLabel(video.originalFileName)}>
          {texts.whatNow}
        </Link>
      </Styled.Ways>
    </div>
  );
}

/**
 * One video of the library: what it is, what was found, and its actions. Renders again only when its own video, or
 * whether it is open or selected, has changed.
 */
export const VideoCard = memo(function VideoCard({
  video,
  backupUntil,
  open,
  selected,
  onSelect,
  onToggle,
}: VideoCardProps) {
  const [renaming, setRenaming] = useState(false);
  const rename = useRenameVideo();
  const remove = useDeleteVideo();
  const card = useRef<HTMLLIElement>(null);
  const renameButton = useRef<HTMLButtonElement>(null);
  const name = video.originalFileName;
  const endRenaming = () => {
    // Removing the form would lose the focus; if the user has moved on, the focus stays where it is.
    if (card.current?.contains(document.activeElement)) renameButton.current?.focus();
    setRenaming(false);
  };
  const askToDelete = () => {
    if (!remove.isPending && window.confirm(videoTexts.deleteConfirm(name))) remove.mutate(video.id);
  };
  // Only while the focus is in the card, because single letters must not act elsewhere (WCAG 2.2, 2.1.4).
  const onKeyDown = (event: KeyboardEvent<HTMLLIElement>) => {
    const { key, ctrlKey, metaKey, altKey } = event;
    if (takesText(event.target) || ctrlKey || metaKey || altKey) return;
    if (key === 'Delete') askToDelete();
    else if (key.toLowerCase() === 'r') setRenaming(true);
    else return;
    event.preventDefault();
  };
  return (
    // Keys are only shortcuts: each has an equivalent button.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <Styled.Card ref={card} data-video={video.id} onKeyDown={onKeyDown}>
      <Poster video={video} open={open} onToggle={onToggle} />
      <Styled.Body>
        {renaming ? (
          <RenameForm
            name={name}
            onCancel={endRenaming}
            onSave={(fileName) => {
              rename.mutate({ id: video.id, fileName }, { onSuccess: endRenaming });
            }}
          />
        ) : (
          <Styled.NameRow>
            <Styled.Name dir="auto" title={name}>
              {name}
            </Styled.Name>
            <input
              type="checkbox"
              checked={selected}
              aria-label={videoTexts.library.select(name)}
              onChange={() => onSelect(video.id)}
            />
          </Styled.NameRow>
        )}
        <Styled.Badges>
          <StatusBadge status={video.status} />
          <Styled.ShortId>#{video.id.slice(0, SHORT_ID_LENGTH)}</Styled.ShortId>
          {backupUntil !== undefined && (
            <Badge icon="cloud">
              {texts.backup} <Moment iso={backupUntil} detail="date" />
            </Badge>
          )}
          {video.isSample && <Badge tone="info">{texts.sample}</Badge>}
        </Styled.Badges>
        <Styled.Middle>
          {video.status === 'processing' && <Progress video={video} />}
          {video.status === 'failed' && <Failure video={video} />}
          {video.status !== 'processing' && video.status !== 'failed' && <Outcome video={video} />}
        </Styled.Middle>
        {(video.status === 'processing' || video.status === 'failed') && (
          <Styled.Facts>
            <span>
              {texts.size} {formatBytes(video.fileSize)}
            </span>
            <Moment iso={video.createdAt} detail="date" />
          </Styled.Facts>
        )}
        <IssueSummary video={video} />
        <Styled.Foot>
          <CardActions
            video={video}
            renameButton={renameButton}
            onRename={() => setRenaming(true)}
            onDelete={askToDelete}
            deleting={remove.isPending}
          />
        </Styled.Foot>
      </Styled.Body>
    </Styled.Card>
  );
});
