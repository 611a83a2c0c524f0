import type { VideoDto } from '#common/api/videos.ts';
import { planAllows, type PlanSlug } from '#common/plans.ts';
import { Icon } from '../../components/icons.tsx';
import { useCaptions } from '../../data/captions/captions.ts';
import { resultMark } from '../../data/videos/videos.ts';
import { captionTexts as texts } from '../../texts/captions.ts';
import { Note, Panel, Reading, Unread } from '../panel-parts.tsx';
import { CaptionEditor, type CaptionPlayer } from './caption-editor.tsx';

interface CaptionsPanelProps {
  readonly video: VideoDto;
  readonly player: CaptionPlayer;
  readonly plan: PlanSlug;
}

/** The captions of a finished video: loaded, then edited. */
export function CaptionsPanel({ video, player, plan }: CaptionsPanelProps) {
  const { data, isError, refetch } = useCaptions(video.id, resultMark(video));
  if (data === null) return null;
  return (
    <Panel aria-label={texts.title} as="section">
      <h3>
        <Icon name="captions" />
        {texts.title}
      </h3>
      <Note>{data?.axis === 'original' ? texts.noteOriginal : texts.note}</Note>
      {isError && !data && (
        <Unread retry={texts.retry} onRetry={() => void refetch()}>
          {texts.fetchFailed}
        </Unread>
      )}
      {!data && !isError && <Reading height="160px">{texts.loading}</Reading>}
      {data && (
        <CaptionEditor
          key={`${video.id} ${data.axis} ${data.soundMovedMs}`}
          video={video}
          page={data}
          player={player}
          isStyled={planAllows(plan, 'styled_captions')}
        />
      )}
    </Panel>
  );
}
