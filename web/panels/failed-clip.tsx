import type { ReactNode } from 'react';
import styled from 'styled-components';
import { Button } from '../components/button.tsx';
import { useRetryVideo } from '../data/videos/videos.ts';
import { failureOf, failureTexts as texts } from '../texts/failures.ts';
import { colour, space, text } from '../theme.ts';

/** What is known about a clip that could not be repaired, from a list or from a pushed state. */
interface FailedVideo {
  readonly id: string;
  readonly errorCode: string | null;
  readonly errorMessage: string | null;
}

const Account = styled.div`
  display: grid;
  gap: ${space(1.5)};
  max-width: 62ch;
`;
const Headline = styled.p`
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

/** Tries a clip again; the primary button only if another try may end differently. */
export function RetryButton({
  video,
  size = 'm',
}: {
  readonly video: FailedVideo;
  readonly size?: 's' | 'm';
}) {
  const retry = useRetryVideo();
  return (
    <Button
      size={size}
      icon="retry"
      look={failureOf(video).again ? 'primary' : 'secondary'}
      disabled={retry.isPending}
      onClick={() => retry.mutate(video.id)}
    >
      {texts.again}
    </Button>
  );
}

interface FailedClipProps {
  readonly video: FailedVideo;
  /** Text to show first where the server's message is specified; otherwise the plain explanation comes first. */
  readonly headline?: string;
  /** An alternative to Retry. */
  readonly another?: ReactNode;
  readonly more?: ReactNode;
}

/** A clip that could not be repaired: what happened, what to do, what is safe, and the next steps. */
export function FailedClip({ video, headline, another, more }: FailedClipProps) {
  const { what, detail, next, again } = failureOf(video);
  const retry = <RetryButton key="retry" video={video} />;
  return (
    <>
      <Account>
        <Headline role={headline === undefined ? undefined : 'alert'}>{headline ?? what}</Headline>
        {headline !== undefined && detail !== null && <p>{what}</p>}
        {next !== null && <p>{next}</p>}
        <p>{texts.kept}</p>
        {headline === undefined && detail !== null && <Detail>{texts.detail(detail)}</Detail>}
      </Account>
      <Ways>
        {again ? [retry, another] : [another, retry]}
        {more}
      </Ways>
    </>
  );
}
