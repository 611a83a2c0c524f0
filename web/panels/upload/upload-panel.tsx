import { useEffect, useState } from 'react';
import { useLocation } from 'react-router-dom';
import styled from 'styled-components';
import { Button, IconButton } from '../../components/button.tsx';
import { useSession } from '../../data/account/session.ts';
import { useUploadGuards } from '../../data/uploads/upload-guards.ts';
import { isActive, useLeftOut, useUploads } from '../../data/uploads/upload-items.ts';
import { useUploadCommand, useUploadSessionChange } from '../../data/uploads/uploads.ts';
import { useHeroVideo, useVideos } from '../../data/videos/videos.ts';
import { uploadTexts } from '../../texts/uploads.ts';
import { colour, figures, radius, space, text } from '../../theme.ts';
import { UploadRow } from './upload-row.tsx';

const { panel: texts } = uploadTexts;

const Place = styled.aside<{ $open: boolean }>`
  position: fixed;
  z-index: 45;
  right: max(16px, env(safe-area-inset-right));
  bottom: calc(16px + env(safe-area-inset-bottom));
  /* Folded it covers as little as possible of what is below it. */
  width: ${({ $open }) => ($open ? '380px' : 'auto')};
  max-width: calc(100vw - 32px);
  border: 1px solid ${colour.lineStrong};
  border-radius: ${radius.m};
  background: ${colour.raised};
  box-shadow: 0 12px 32px rgb(0 0 0 / 0.3);
`;
const Head = styled.div`
  display: flex;
  align-items: center;
  gap: ${space(1)};
  padding: ${space(0.75, 1, 0.75, 2)};
  h2 {
    font-size: ${text.m};
  }
  p {
    ${figures}
    flex: 1;
    font-size: ${text.s};
    color: ${colour.inkFaint};
  }
`;
const LeftOut = styled.div`
  display: grid;
  grid-template-columns: minmax(0, 1fr) auto;
  padding: ${space(1, 1, 1, 2)};
  border-top: 1px solid ${colour.line};
  background: ${colour.warnSoft};
  font-size: ${text.s};
  overflow-wrap: anywhere;
`;
const Rows = styled.ul`
  max-height: min(46vh, 420px);
  overflow: auto;
  border-top: 1px solid ${colour.line};
`;
const Foot = styled.div`
  display: flex;
  justify-content: flex-end;
  gap: ${space(1)};
  padding: ${space(0.5, 1)};
  border-top: 1px solid ${colour.line};
`;

/** All uploads, on every page; opens by itself and can be folded. */
export function UploadPanel() {
  const items = useUploads();
  const [leftOut, tellLeftOut] = useLeftOut();
  const command = useUploadCommand();
  const sessionChanged = useUploadSessionChange();
  const { user } = useSession();
  const { data: videos } = useVideos('background');
  const { id: heroVideoId } = useHeroVideo();
  const { pathname } = useLocation();
  const [chosen, setChosen] = useState<boolean | null>(null);
  const [only, ...others] = items;
  // The page shows more about it than a row could, and on a phone the panel would cover that.
  const shownInFull =
    pathname === '/' &&
    chosen === null &&
    others.length === 0 &&
    only?.state === 'sent' &&
    only.videoId === heroVideoId;
  const active = items.filter(isActive).length;
  // The landing page shows its own file in full, and users who left it have seen the result, so the panel stays folded
  // until opened.
  const isCalm = pathname === '/' || items.every(({ state }) => state === 'sent');
  const open = chosen ?? !(isCalm && items.every(({ origin }) => origin === 'hero'));
  useUploadGuards(active > 0);
  useEffect(() => {
    if (user) sessionChanged(user.id);
  }, [user, sessionChanged]);

  const stateOf = (videoId: string | null) => videos?.find(({ id }) => id === videoId);
  const ready = items.filter(
    ({ state, videoId }) => state === 'sent' && stateOf(videoId)?.status === 'completed',
  ).length;
  const failed = items.filter(({ state }) => state === 'failed');
  // Clips that arrived but could not be repaired: sending them again would not help, but users must see them.
  const unmended = items.filter(({ videoId }) => stateOf(videoId)?.status === 'failed').length;
  const finished = items.filter(
    ({ state, videoId }) =>
      state === 'known' || (state === 'sent' && stateOf(videoId)?.status !== 'processing'),
  );
  // Who brought one clip in and went on from it has it before them; the panel would lie over it for nothing, most of all on a phone.
  const isSeen =
    pathname !== '/' &&
    chosen === null &&
    ready === items.length &&
    items.every(({ origin }) => origin === 'hero');
  if (shownInFull || isSeen) return null;
  return (
    <Place aria-labelledby="upload-panel-title" $open={open}>
      <Head>
        <h2 id="upload-panel-title">{texts.title}</h2>
        <p>
          {open || (active === 0 && failed.length === 0)
            ? texts.summary(ready, items.length, failed.length + unmended)
            : texts.badge(active, failed.length + unmended)}
        </p>
        <IconButton
          icon={open ? 'collapse' : 'upload'}
          label={open ? texts.collapse : texts.expand}
          aria-expanded={open}
          onClick={() => setChosen(!open)}
        />
      </Head>
      {open && (
        <>
          {leftOut !== null && (
            <LeftOut role="status">
              <p>{leftOut}</p>
              <IconButton icon="close" label={texts.leftOutRead} onClick={() => tellLeftOut(null)} />
            </LeftOut>
          )}
          <Rows>
            {items.map((item) => (
              <UploadRow
                key={item.id}
                item={item}
                video={stateOf(item.videoId)}
                onCommand={(name) => command(item.id, name)}
              />
            ))}
          </Rows>
          {(failed.length > 1 || finished.length > 0) && (
            <Foot>
              {failed.length > 1 && (
                <Button
                  size="s"
                  look="quiet"
                  onClick={() => failed.forEach(({ id }) => command(id, 'retry'))}
                >
                  {texts.retryAll}
                </Button>
              )}
              {finished.length > 0 && (
                <Button
                  size="s"
                  look="quiet"
                  onClick={() => finished.forEach(({ id }) => command(id, 'dismiss'))}
                >
                  {texts.clear}
                </Button>
              )}
            </Foot>
          )}
        </>
      )}
    </Place>
  );
}
