import styled from 'styled-components';
import type { VideoDto } from '#common/api/videos.ts';
import { Button, ButtonLink } from '../../components/button.tsx';
import { useRetryVideo } from '../../data/videos/videos.ts';
import { failureOf } from '../../texts/failures.ts';
import { reportTexts as texts } from '../../texts/report.ts';
import { colour, space, text } from '../../theme.ts';

const Account = styled.div`
  display: grid;
  gap: ${space(1.5)};
  max-width: 62ch;
`;
const What = styled.p`
  font-weight: 600;
  color: ${colour.defect};
`;
const Detail = styled.p`
  font-size: ${text.s};
  color: ${colour.inkSoft};
`;
const Ways = styled.div`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(1.5)};
`;

/** A clip that could not be mended: what happened, what is safe, and where one goes from there. */
export function FailedActions({ video }: { readonly video: VideoDto }) {
  const retry = useRetryVideo();
  const { what, detail, next, again } = failureOf(video);
  const another = (
    <ButtonLink key="another" to="/#upload" icon="upload" look={again ? 'secondary' : 'primary'}>
      {texts.failedWays.another}
    </ButtonLink>
  );
  const sameAgain = (
    <Button
      key="again"
      look={again ? 'primary' : 'secondary'}
      icon="retry"
      disabled={retry.isPending}
      onClick={() => retry.mutate(video.id)}
    >
      {texts.failedWays.again}
    </Button>
  );
  return (
    <>
      <Account>
        <What>{what}</What>
        {next !== null && <p>{next}</p>}
        <p>{texts.failedWays.kept}</p>
        {detail !== null && <Detail>{texts.failedWays.detail(detail)}</Detail>}
      </Account>
      <Ways>
        {again ? [sameAgain, another] : [another, sameAgain]}
        <ButtonLink to="/drafts" look="quiet">
          {texts.failedWays.backup}
        </ButtonLink>
      </Ways>
    </>
  );
}
