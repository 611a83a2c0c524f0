import { useCallback, useEffect, useState } from 'react';
import styled from 'styled-components';
import { HERO_EXTENSIONS } from '#common/video.ts';
import { Button, ButtonLink } from '../../components/button.tsx';
import { Icon } from '../../components/icons.tsx';
import { Container } from '../../components/page.tsx';
import { rejectionText } from '../../components/rejections.ts';
import { Sashiko } from '../../components/sashiko.tsx';
import { ThreadProgress } from '../../components/thread-progress.tsx';
import { useSession } from '../../data/session.ts';
import { useShowToast } from '../../data/toasts.ts';
import { isActive, useKeptFile, useStartUploads, useUploads } from '../../data/uploads.ts';
import { useHeroVideoId, useSampleClip, useSetHeroVideo, useVideos } from '../../data/videos.ts';
import { ProcessingPanel } from '../../panels/processing-panel.tsx';
import { landingTexts } from '../../texts/landing.ts';
import { uploadTexts } from '../../texts/uploads.ts';
import { colour, screen, space, text } from '../../theme.ts';
import { DropArea } from './drop-area.tsx';
import { HeroCopy } from './hero-copy.tsx';
import { useNavigate } from 'react-router-dom';

const { hero: texts } = landingTexts;

const ACCEPT = { 'video/mp4': ['.mp4'], 'video/quicktime': ['.mov'], 'video/x-msvideo': ['.avi'] };
const TYPES = HERO_EXTENSIONS.join(', ');

const Section = styled.section`
  position: relative;
  isolation: isolate;
  overflow: hidden;
  &:focus {
    outline: none;
  }
`;
const Backdrop = styled.div`
  position: absolute;
  z-index: -1;
  inset: 0 0 0 40%;
  opacity: 0.4;
  mask: radial-gradient(ellipse 70% 80% at 80% 30%, black, transparent);
`;
const Columns = styled(Container)`
  display: grid;
  align-items: center;
  gap: ${space(5)};
  padding-block: ${space(5)};
  ${screen.desktop} {
    grid-template-columns: minmax(0, 1.15fr) minmax(0, 1fr);
    gap: ${space(8)};
    padding-block: ${space(8)};
  }
`;
const Drop = styled.div`
  display: grid;
  & > div {
    min-height: 340px;
  }
  ${screen.desktop} {
    & > div {
      min-height: 420px;
    }
  }
`;
const DropTitle = styled.p`
  font-size: ${text.l};
  font-weight: 600;
  max-width: 26ch;
`;
const Small = styled.p`
  font-size: ${text.s};
  color: ${colour.inkFaint};
`;
const Problem = styled.p`
  color: ${colour.defect};
  font-weight: 600;
`;
const Progress = styled.div`
  width: min(320px, 70vw);
  text-align: left;
`;
const Below = styled(Container)`
  padding-bottom: ${space(6)};
`;

/** Drop area, sample button and, once there is a clip, its repair. */
export function UploadHero() {
  const session = useSession();
  const showToast = useShowToast();
  const navigate = useNavigate();
  const startUploads = useStartUploads();
  const uploads = useUploads();
  const [kept, keep] = useKeptFile();
  const [problem, setProblem] = useState<string | null>(null);
  const sample = useSampleClip();
  const heroVideoId = useHeroVideoId();
  const setHeroVideo = useSetHeroVideo();
  const { data: videos } = useVideos('dashboard');
  const signedIn = session.status === 'signed-in';
  const upload = uploads.findLast((item) => item.origin === 'hero' && isActive(item));
  const percent = upload ? Math.floor((upload.acknowledgedBytes / upload.file.size) * 100) : 0;
  const heroVideo = videos?.find(({ id }) => id === heroVideoId);

  useEffect(() => {
    if (!signedIn || !kept) return;
    keep(null);
    startUploads([kept], 'hero');
  }, [signedIn, kept, keep, startUploads]);

  const take = (files: File[]): void => {
    const [file] = files;
    if (!file) return;
    setProblem(null);
    if (signedIn) {
      setHeroVideo(null);
      startUploads([file], 'hero');
      return;
    }
    keep(file);
    showToast({ title: uploadTexts.signInRequired, description: uploadTexts.signInRequiredDetail });
  };
  const trySample = (): void => {
    if (signedIn) sample.mutate();
    else void navigate('/auth');
  };
  const forget = useCallback(() => setHeroVideo(null), [setHeroVideo]);

  return (
    <Section id="upload" tabIndex={-1}>
      <Backdrop>
        <Sashiko id="hero-cloth" />
      </Backdrop>
      <Columns>
        <HeroCopy sampleBusy={sample.isPending} onSample={trySample} />
        <Drop>
          <DropArea
            accept={ACCEPT}
            multiple={false}
            disabled={upload !== undefined}
            label={texts.drop}
            onFiles={take}
            onRejected={(rejections) => {
              const reason = rejectionText(rejections, TYPES);
              setProblem(reason);
              showToast({ title: uploadTexts.rejected, description: reason, tone: 'destructive' });
            }}
          >
            {(dragging) => (
              <>
                <Icon name="upload" size={40} />
                <DropTitle>{dragging ? texts.dropActive : texts.drop}</DropTitle>
                {signedIn ? (
                  <Button size="l" disabled={upload !== undefined}>
                    {upload ? texts.uploading : texts.browse}
                  </Button>
                ) : (
                  <ButtonLink to="/auth" size="l" onClick={(event) => event.stopPropagation()}>
                    {texts.signIn}
                  </ButtonLink>
                )}
                {upload ? (
                  <Progress>
                    <ThreadProgress
                      label={texts.uploadLabel}
                      percent={percent}
                      valueText={texts.uploadProgress(percent)}
                    />
                    <Small>{upload.file.name}</Small>
                  </Progress>
                ) : (
                  <Small>{texts.limits}</Small>
                )}
                {problem && <Problem role="alert">{problem}</Problem>}
                {kept && !signedIn && <Small role="status">{texts.kept(kept.name)}</Small>}
              </>
            )}
          </DropArea>
        </Drop>
      </Columns>
      {signedIn && heroVideoId && (
        <Below>
          <ProcessingPanel
            key={heroVideoId}
            id={heroVideoId}
            name={heroVideo?.originalFileName}
            hasReport={heroVideo?.hasReport ?? false}
            onGone={forget}
          />
        </Below>
      )}
    </Section>
  );
}
