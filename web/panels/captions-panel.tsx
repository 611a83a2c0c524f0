import type { VideoDto } from '#common/api/videos.ts';
import { planAllows, type PlanSlug } from '#common/plans.ts';
import { Button } from '../components/button.tsx';
import { Icon } from '../components/icons.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { useCaptions } from '../data/captions.ts';
import { captionTexts as texts } from '../texts/captions.ts';
import { Failure, Note, Panel } from './ai-panel.tsx';
import { CaptionEditor, type CaptionPlayer } from './caption-editor.tsx';

interface CaptionsPanelProps {
  readonly video: VideoDto;
  readonly player: CaptionPlayer;
  readonly plan: PlanSlug;
}

/** The captions of a finished video: read, then edited. */
export function CaptionsPanel({ video, player, plan }: CaptionsPanelProps) {
  const { data, isError, refetch } = useCaptions(video.id);
  if (data === null) return null;
  return (
    <Panel aria-label={texts.title} as="section">
      <h3>
        <Icon name="captions" />
        {texts.title}
      </h3>
      <Note>{texts.note}</Note>
      {isError && !data && (
        <div role="alert">
          <Failure>{texts.fetchFailed}</Failure>
          <Button look="secondary" size="s" icon="retry" onClick={() => void refetch()}>
            {texts.retry}
          </Button>
        </div>
      )}
      {!data && !isError && (
        <div role="status">
          <p>{texts.loading}</p>
          <Skeleton $height="160px" />
        </div>
      )}
      {data && (
        <CaptionEditor
          key={video.id}
          video={video}
          page={data}
          player={player}
          isStyled={planAllows(plan, 'styled_captions')}
        />
      )}
    </Panel>
  );
}
