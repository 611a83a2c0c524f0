import { useParams } from 'react-router-dom';
import styled from 'styled-components';
import { Button, ButtonLink } from '../../components/button.tsx';
import { PageColumn, PageHeading } from '../../components/page.tsx';
import { PageSpinner } from '../../components/spinner.tsx';
import { Stitch } from '../../components/stitch.tsx';
import {
  sharedCaptionsUrl,
  sharedPosterUrl,
  sharedStreamUrl,
  useSharedVideo,
} from '../../data/videos/shared-video.ts';
import { shareTexts as texts } from '../../texts/share.ts';
import { colour, radius, space } from '../../theme.ts';
import { NotFound } from '../../components/not-found.tsx';

const Frame = styled(PageColumn)`
  max-width: 900px;
`;
const Picture = styled.video`
  width: 100%;
  max-height: 72vh;
  border-radius: ${radius.m};
  background: #05070f;
`;
const Invite = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: space-between;
  gap: ${space(2)};
  color: ${colour.inkSoft};
`;

/** The public page of one video, available only while its owner shares it. */
export function SharePage() {
  const { id = '' } = useParams();
  const { data, isError, refetch } = useSharedVideo(id);
  if (data === null) return <NotFound text={texts.gone} />;
  if (isError)
    return (
      <Frame>
        <p role="alert">{texts.failed}</p>
        <div>
          <Button icon="retry" onClick={() => void refetch()}>
            {texts.retry}
          </Button>
        </div>
      </Frame>
    );
  if (!data) return <PageSpinner text={texts.loading} />;
  return (
    <Frame>
      <PageHeading title={data.title}>{data.title}</PageHeading>
      {/* oxlint-disable-next-line jsx-a11y/media-has-caption -- there are captions where their owner wrote any */}
      <Picture
        controls
        playsInline
        preload="metadata"
        src={sharedStreamUrl(id)}
        poster={sharedPosterUrl(id)}
        style={data.width && data.height ? { aspectRatio: `${data.width} / ${data.height}` } : undefined}
      >
        {data.hasCaptions && (
          <track kind="captions" src={sharedCaptionsUrl(id)} label={texts.captions} default />
        )}
      </Picture>
      <Stitch />
      <Invite>
        <p>
          <strong>{texts.by}</strong>
          <br />
          {texts.invite}
        </p>
        <ButtonLink to="/#upload">{texts.action}</ButtonLink>
      </Invite>
    </Frame>
  );
}
