import { type Ref, useEffect } from 'react';
import styled from 'styled-components';
import type { VideoDto } from '#common/api/videos.ts';
import type { Defect } from '#common/report.ts';
import { Button } from '../components/button.tsx';
import { type ComparisonHandle, ComparisonPlayer } from '../components/comparison/comparison-player.tsx';
import { ThreadProgress } from '../components/thread-progress.tsx';
import { useComparison, useMakeComparison } from '../data/videos/comparison.ts';
import { comparisonTexts as texts } from '../texts/comparison.ts';
import { colour, radius, space } from '../theme.ts';

const Waiting = styled.div<{ $ratio: number }>`
  display: grid;
  align-content: center;
  gap: ${space(2)};
  width: 100%;
  max-width: calc(var(--player-height, 66vh) * ${({ $ratio }) => $ratio});
  /* As large as the picture that follows, so that nothing moves when it arrives. */
  aspect-ratio: ${({ $ratio }) => $ratio};
  margin-inline: auto;
  padding: ${space(2, 3)};
  border: 1px dashed ${colour.chalk};
  border-radius: ${radius.s};
  text-align: center;
  & > * {
    min-width: 0;
  }
`;

interface ComparisonPanelProps {
  readonly video: VideoDto;
  readonly defects: readonly Defect[];
  /** Moves the focus here, for users who opened it by a key and continue with keys. */
  readonly takeFocus?: boolean;
  readonly ref?: Ref<ComparisonHandle>;
}

/** The comparison of a repaired video: requested when it is opened, with its progress while it is made. */
export function ComparisonPanel({ video, defects, takeFocus = false, ref }: ComparisonPanelProps) {
  const version = video.resultSha256 ?? '';
  const { data, isError, refetch } = useComparison(video.id, version);
  const { mutate: make, isError: makeFailed } = useMakeComparison(video.id, version);
  const absent = data?.state === 'absent';
  useEffect(() => {
    if (absent) make();
  }, [absent, make]);

  if (data?.state === 'ready' && data.layout && data.url) {
    return (
      <ComparisonPlayer
        ref={ref}
        title={video.originalFileName}
        src={data.url}
        layout={data.layout}
        defects={defects}
        takeFocus={takeFocus}
      />
    );
  }
  const ratio = (video.width || 16) / (video.height || 9);
  if (isError || makeFailed || data?.state === 'failed') {
    return (
      <Waiting $ratio={ratio} role="alert">
        <p>{data?.message ?? texts.readFailed}</p>
        <div>
          <Button look="secondary" icon="retry" onClick={() => (isError ? void refetch() : make())}>
            {texts.retry}
          </Button>
        </div>
      </Waiting>
    );
  }
  const percent = data?.progress ?? 0;
  return (
    <Waiting $ratio={ratio}>
      <p>
        {data === undefined ? texts.loading : data.state === 'making' ? texts.making(percent) : texts.waiting}
      </p>
      <ThreadProgress label={texts.progress} percent={percent} valueText={texts.making(percent)} />
    </Waiting>
  );
}
