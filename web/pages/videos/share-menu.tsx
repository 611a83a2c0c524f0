import { type PointerEvent, useEffect, useRef, useState } from 'react';
import type { VideoDto } from '#common/api/videos.ts';
import { IconButton } from '../../components/button.tsx';
import { Icon, type IconName } from '../../components/icons.tsx';
import {
  Menu,
  MenuContent,
  MenuItem,
  MenuLabel,
  MenuLine,
  MenuPortal,
  MenuTrigger,
} from '../../components/menu.tsx';
import { failureToast } from '../../data/failure-toast.ts';
import { useShowToast } from '../../data/toasts.ts';
import { useShareVideo } from '../../data/videos/videos.ts';
import { videoTexts } from '../../texts/videos.ts';

const { share: texts, card } = videoTexts;

/** Delay from the pointer leaving the menu to closing it (specification section 2). */
const CLOSE_DELAY_MS = 1000;

/** The pages that sharing opens, in the menu's order. */
export function shareTargets(
  name: string,
  link: string,
): readonly { label: string; icon: IconName; href: string }[] {
  const intent = new URLSearchParams({ text: texts.text(name), url: link });
  return [
    { label: texts.tiktok, icon: 'tiktok', href: 'https://www.tiktok.com/upload' },
    { label: texts.youtube, icon: 'youtube', href: 'https://studio.youtube.com/' },
    { label: texts.instagram, icon: 'instagram', href: 'https://www.instagram.com/' },
    { label: texts.x, icon: 'x', href: `https://twitter.com/intent/tweet?${intent.toString()}` },
  ];
}

/**
 * The share button of a card. The menu itself is created on demand, because a library has as many buttons as videos and
 * rarely needs one of the menus.
 */
export function ShareMenu({ video }: { readonly video: VideoDto }) {
  const [wanted, setWanted] = useState(false);
  const completed = video.status === 'completed';
  if (wanted && completed) return <OpenedMenu video={video} />;
  return (
    <IconButton
      icon="share"
      label={card.share}
      title={completed ? card.share : card.completedOnly}
      disabled={!completed}
      aria-haspopup="menu"
      aria-expanded={false}
      onClick={() => setWanted(true)}
      onKeyDown={(event) => {
        if (event.key === 'ArrowDown') setWanted(true);
      }}
    />
  );
}

/** Opens a platform's page and makes the video's own public page reachable. */
function OpenedMenu({ video }: { readonly video: VideoDto }) {
  const [open, setOpen] = useState(true);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const share = useShareVideo();
  const showToast = useShowToast();
  useEffect(() => () => clearTimeout(timer.current), []);
  const change = async (shared: boolean): Promise<void> => {
    try {
      await share.mutateAsync({ id: video.id, shared });
      if (!shared) showToast({ title: texts.stopped, description: texts.stoppedDetail });
    } catch (error) {
      showToast(failureToast(error, texts.failed, videoTexts.tryAgain));
    }
  };
  const link = `${window.location.origin}/video/${video.id}`;
  // The button belongs to the menu: a pointer that opens the menu and turns away without entering it has left it too.
  const pointer = {
    onPointerEnter: () => clearTimeout(timer.current),
    onPointerLeave: (event: PointerEvent) => {
      if (event.pointerType !== 'mouse') return;
      clearTimeout(timer.current);
      timer.current = setTimeout(() => setOpen(false), CLOSE_DELAY_MS);
    },
  };
  return (
    <Menu open={open} onOpenChange={setOpen} modal={false}>
      <MenuTrigger asChild>
        <IconButton icon="share" label={card.share} {...pointer} />
      </MenuTrigger>
      <MenuPortal>
        <MenuContent align="end" sideOffset={6} {...pointer}>
          <MenuLabel>{texts.public}</MenuLabel>
          {shareTargets(video.originalFileName, link).map(({ label, icon, href }) => (
            <MenuItem key={label} asChild onSelect={() => void change(true)}>
              <a href={href} target="_blank" rel="noopener noreferrer">
                <Icon name={icon} />
                {label}
              </a>
            </MenuItem>
          ))}
          {video.shared && (
            <>
              <MenuLine />
              <MenuItem asChild>
                <a href={`/video/${video.id}`} target="_blank" rel="noopener noreferrer">
                  <Icon name="eye" />
                  {texts.openPage}
                </a>
              </MenuItem>
              <MenuItem onSelect={() => void change(false)}>
                <Icon name="lock" />
                {texts.stop}
              </MenuItem>
            </>
          )}
        </MenuContent>
      </MenuPortal>
    </Menu>
  );
}
