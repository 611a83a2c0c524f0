import styled from 'styled-components';
import { playerTexts } from '../../texts/player.ts';
import { colour, space, text } from '../../theme.ts';
import { Button } from '../button.tsx';
import { Icon } from '../icons.tsx';

const Cover = styled.div`
  position: absolute;
  inset: 0;
  display: grid;
  place-content: center;
  justify-items: center;
  gap: ${space(2)};
  padding: ${space(2)};
  background: ${colour.sunken};
  text-align: center;
`;
const Links = styled.p`
  display: flex;
  flex-wrap: wrap;
  justify-content: center;
  gap: ${space(1, 3)};
  a {
    padding: ${space(1.25, 0)};
    font-weight: 600;
  }
`;
const Tip = styled.p`
  max-width: 40ch;
  font-size: ${text.s};
  color: ${colour.inkSoft};
`;

/** The kind of device, as far as it decides what to offer when a video does not play. */
export interface Device {
  readonly phone: boolean;
  readonly ios: boolean;
}

/** Detects the device from the browser's user agent. */
export function deviceOf({
  userAgent,
  maxTouchPoints,
}: {
  readonly userAgent: string;
  readonly maxTouchPoints: number;
}): Device {
  // iPads identify as Macs, but no Mac has a touch screen.
  const ios = /iPhone|iPad|iPod/.test(userAgent) || (/Macintosh/.test(userAgent) && maxTouchPoints > 1);
  return { ios, phone: ios || /Android|Mobi/.test(userAgent) };
}

interface PlaybackFallbackProps {
  readonly device: Device;
  readonly src: string;
  readonly downloadHref: string;
  readonly downloadName: string;
  readonly onRetry: () => void;
}

/** Shown when playback failed: links that work without the player, with an explanation. */
export function PlaybackFallback({
  device,
  src,
  downloadHref,
  downloadName,
  onRetry,
}: PlaybackFallbackProps) {
  return (
    <Cover role="alert">
      <Icon name="alert" size={28} />
      <p>{device.phone ? playerTexts.failedPhone : playerTexts.failed}</p>
      <Links>
        {device.phone && (
          <a href={src} target="_blank" rel="noreferrer">
            {playerTexts.view}
          </a>
        )}
        <a href={downloadHref} download={downloadName}>
          {playerTexts.download}
        </a>
      </Links>
      {!device.phone && (
        <Button size="s" look="secondary" icon="retry" onClick={onRetry}>
          {playerTexts.retry}
        </Button>
      )}
      {device.ios && <Tip>{playerTexts.iosTip}</Tip>}
    </Cover>
  );
}
