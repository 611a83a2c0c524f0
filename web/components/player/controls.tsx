import styled from 'styled-components';
import { playerTexts } from '../../texts/player.ts';
import { colour, figures, space, text } from '../../theme.ts';
import { IconButton } from '../button.tsx';
import { formatMark } from '../time-text.ts';
import type { Playback } from './use-playback.ts';

const Bar = styled.div`
  display: flex;
  align-items: center;
  flex-wrap: wrap;
  gap: ${space(0.5)};
`;
const Time = styled.span`
  ${figures}
  padding-inline: ${space(1)};
  font-size: ${text.s};
  color: ${colour.inkSoft};
  white-space: nowrap;
`;
const Space = styled.span`
  flex: 1;
`;
const Volume = styled.input`
  width: 84px;
  accent-color: ${colour.thread};
  @media (pointer: coarse) {
    display: none;
  }
`;

/**
 * Hides the button for the list of keys on touch screens, where it is useless and would wrap to a second row on a
 * phone; the key `?` opens the list everywhere.
 */
export const ForKeys = styled.span`
  display: contents;
  @media (pointer: coarse) {
    display: none;
  }
`;

interface ControlsProps {
  readonly playback: Playback;
  readonly hasCaptions: boolean;
  readonly fullscreen: boolean;
  readonly onToggle: () => void;
  readonly onMute: () => void;
  readonly onVolume: (volume: number) => void;
  readonly onCaptions: () => void;
  readonly onFullscreen: () => void;
  readonly onHelp: () => void;
}

/** The row of buttons under the picture. */
export function Controls(props: ControlsProps) {
  const { playback, hasCaptions, fullscreen } = props;
  const { playing, currentMs, durationMs, muted, volume, captions } = playback;
  return (
    <Bar>
      <IconButton
        icon={playing ? 'pause' : 'play'}
        label={playing ? playerTexts.pause : playerTexts.play}
        onClick={props.onToggle}
      />
      <Time>
        {formatMark(currentMs)} / {formatMark(durationMs)}
      </Time>
      <Space />
      <IconButton
        icon={muted ? 'muted' : 'sound'}
        label={muted ? playerTexts.unmute : playerTexts.mute}
        onClick={props.onMute}
      />
      <Volume
        type="range"
        min={0}
        max={1}
        step={0.05}
        value={muted ? 0 : volume}
        aria-label={playerTexts.volume}
        onChange={(event) => props.onVolume(event.target.valueAsNumber)}
      />
      {hasCaptions && (
        <IconButton
          icon="captions"
          label={captions ? playerTexts.captionsOff : playerTexts.captionsOn}
          aria-pressed={captions}
          onClick={props.onCaptions}
        />
      )}
      <ForKeys>
        <IconButton icon="help" label={playerTexts.help} onClick={props.onHelp} />
      </ForKeys>
      <IconButton
        icon="fullscreen"
        label={fullscreen ? playerTexts.exitFullscreen : playerTexts.fullscreen}
        onClick={props.onFullscreen}
      />
    </Bar>
  );
}
