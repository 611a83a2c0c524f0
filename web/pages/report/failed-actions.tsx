import styled from 'styled-components';
import { Button, ButtonLink } from '../../components/button.tsx';
import { useRetryVideo } from '../../data/videos/videos.ts';
import { reportTexts as texts } from '../../texts/report.ts';
import { space } from '../../theme.ts';

const Ways = styled.div`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(1.5)};
`;

/** Where one goes from a clip that could not be mended: the same again, another one, or what is kept of it. */
export function FailedActions({ videoId }: { readonly videoId: string }) {
  const retry = useRetryVideo();
  return (
    <>
      <p>{texts.failedWays.kept}</p>
      <Ways>
        <ButtonLink to="/#upload" icon="upload">
          {texts.failedWays.another}
        </ButtonLink>
        <Button
          look="secondary"
          icon="retry"
          disabled={retry.isPending}
          onClick={() => retry.mutate(videoId)}
        >
          {texts.failedWays.again}
        </Button>
        <ButtonLink to="/drafts" look="quiet">
          {texts.failedWays.backup}
        </ButtonLink>
      </Ways>
    </>
  );
}
