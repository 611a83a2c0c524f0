import { type MouseEvent, useCallback, useEffect } from 'react';
import styled from 'styled-components';
import { Button, ButtonLink } from '../../components/button.tsx';
import { Moment } from '../../components/moment.tsx';
import { ThreadProgress } from '../../components/thread-progress.tsx';
import { useStats } from '../../data/videos/stats.ts';
import { isActive, type UploadItem, useKeptFile, useUploads } from '../../data/uploads/upload-items.ts';
import { useStartUploads, useUploadCommand } from '../../data/uploads/uploads.ts';
import { useHeroVideo, useSampleClip, useSetHeroVideo, useVideos } from '../../data/videos/videos.ts';
import { ProcessingPanel } from '../../panels/processing/processing-panel.tsx';
import { landingTexts } from '../../texts/landing.ts';
import { uploadTexts } from '../../texts/uploads.ts';
import { space } from '../../theme.ts';
import { HeroDrop } from './hero-drop.tsx';
import { DropNote, HeroLayout } from './hero-layout.tsx';

const { hero: texts } = landingTexts;

const Progress = styled.div`
  width: min(320px, 70vw);
  text-align: left;
`;

const Known = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: center;
  gap: ${space(1)};
`;

/** What is left of the month, shown before a file is chosen; reserves its line until it is known. */
function QuotaNote() {
  const { data } = useStats();
  const { used = 0, limit = null, resetsAt = '' } = data?.quota ?? {};
  if (limit === null) return <DropNote>{'\u00a0'}</DropNote>;
  if (used < limit) return <DropNote>{texts.quotaLeft(used, limit)}</DropNote>;
  return (
    <DropNote role="status">
      {texts.quotaUsed(limit)} <Moment iso={resetsAt} detail="date" />.
    </DropNote>
  );
}

/** Why no bytes arrive at the moment, while the button still says that it uploads. */
function haltOf({ state }: UploadItem): string | null {
  if (state === 'offline') return uploadTexts.states.offline;
  if (state === 'paused') return uploadTexts.states.paused;
  return state === 'signed_out' ? uploadTexts.states.signedOut : null;
}

/** The picked file is already a video: the video is offered, and the file sent again only on request. */
function KnownFile({
  item,
  onShow,
}: {
  readonly item: UploadItem;
  readonly onShow: (videoId: string) => void;
}) {
  const command = useUploadCommand();
  const choose = (event: MouseEvent, chosen: 'anyway' | 'dismiss'): void => {
    // A click that reached the drop area would open the file browser.
    event.stopPropagation();
    command(item.id, chosen);
    if (chosen === 'dismiss' && item.videoId !== null) onShow(item.videoId);
  };
  return (
    <Known role="status">
      <DropNote>{uploadTexts.panel.known(item.knownName ?? item.file.name)}</DropNote>
      <Button size="s" look="secondary" onClick={(event) => choose(event, 'dismiss')}>
        {texts.showKnown}
      </Button>
      <Button size="s" look="quiet" onClick={(event) => choose(event, 'anyway')}>
        {uploadTexts.panel.again}
      </Button>
    </Known>
  );
}

/** The hero of a signed-in user: sends the file and shows its repair. */
export function CreatorHero() {
  const startUploads = useStartUploads();
  const uploads = useUploads();
  const [kept, keep] = useKeptFile();
  const sample = useSampleClip();
  const { id: heroVideoId, chosen, forget } = useHeroVideo();
  const setHeroVideo = useSetHeroVideo();
  const { data: videos } = useVideos('dashboard');
  const quota = useStats().data?.quota;
  const isSpent = quota ? quota.limit !== null && quota.used >= quota.limit : false;
  const upload = uploads.findLast((item) => item.origin === 'hero' && isActive(item));
  const known = uploads.findLast((item) => item.origin === 'hero' && item.state === 'known');
  const percent = upload ? Math.floor((upload.acknowledgedBytes / upload.file.size) * 100) : 0;
  const halted = upload && haltOf(upload);
  const heroVideo = videos?.find(({ id }) => id === heroVideoId);

  const start = useCallback(
    (file: File) => {
      setHeroVideo(null);
      startUploads([file], 'hero');
    },
    [setHeroVideo, startUploads],
  );
  useEffect(() => {
    if (!kept) return;
    keep(null);
    start(kept);
  }, [kept, keep, start]);

  return (
    <HeroLayout
      known
      sampleBusy={sample.isPending}
      onSample={() => sample.mutate()}
      drop={
        <HeroDrop
          disabled={upload !== undefined}
          onFile={start}
          title={isSpent && !upload ? texts.quotaTitle : undefined}
          button={
            // Another file would only be refused now.
            isSpent && !upload ? (
              <ButtonLink to="/upgrade" size="l" onClick={(event) => event.stopPropagation()}>
                {texts.quotaMore}
              </ButtonLink>
            ) : (
              // A disabled button would lose the focus; while a file is sent, the area opens no file browser.
              <Button size="l" aria-disabled={upload !== undefined}>
                {upload ? texts.uploading : texts.browse}
              </Button>
            )
          }
          note={
            upload ? (
              <Progress>
                <ThreadProgress
                  label={texts.uploadLabel}
                  percent={percent}
                  valueText={texts.uploadProgress(percent)}
                />
                <DropNote>{upload.file.name}</DropNote>
                {halted && <DropNote role="status">{halted}</DropNote>}
              </Progress>
            ) : (
              <>
                {known && <KnownFile item={known} onShow={setHeroVideo} />}
                <DropNote>{texts.limits}</DropNote>
                <QuotaNote />
              </>
            )
          }
        />
      }
      below={
        heroVideoId && (
          <ProcessingPanel
            key={heroVideoId}
            id={heroVideoId}
            name={heroVideo?.originalFileName}
            hasReport={heroVideo?.hasReport ?? false}
            reveal={chosen}
            onGone={forget}
          />
        )
      }
    />
  );
}
