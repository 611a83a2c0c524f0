import styled from 'styled-components';
import { comparisonTexts as texts } from '../../texts/comparison.ts';
import { playerTexts } from '../../texts/player.ts';
import { space } from '../../theme.ts';
import { Button, IconButton } from '../button.tsx';
import { Choices } from '../choices.tsx';
import { ForKeys } from '../player/controls.tsx';
import type { Side } from './use-channel-sound.ts';

const Bar = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(1)};
`;
const Group = styled.div`
  display: flex;
  align-items: center;
  gap: ${space(0.5)};
  &:last-child {
    margin-left: auto;
  }
`;
const Flip = styled(Button)`
  /* Fits both words, so that the row does not move when they change. */
  min-width: 10.5em;
`;

const VIEWS = [
  { value: 'wipe', label: texts.arrangements.wipe },
  { value: 'beside', label: texts.arrangements.beside },
] as const;

interface ComparisonControlsProps {
  readonly playing: boolean;
  readonly muted: boolean;
  readonly view: 'wipe' | 'beside';
  readonly heard: Side;
  readonly hasPrevious: boolean;
  readonly hasNext: boolean;
  readonly onToggle: () => void;
  readonly onMute: () => void;
  readonly onView: (view: 'wipe' | 'beside') => void;
  readonly onFlip: () => void;
  readonly onPlace: (direction: 1 | -1) => void;
  readonly onFullscreen: () => void;
  readonly onHelp: () => void;
}

/** The rows of buttons under the comparison. */
export function ComparisonControls(props: ComparisonControlsProps) {
  const { playing, muted, view, heard } = props;
  return (
    <Bar>
      <Group>
        <IconButton
          icon={playing ? 'pause' : 'play'}
          label={playing ? playerTexts.pause : playerTexts.play}
          onClick={props.onToggle}
        />
        <IconButton
          icon="arrowLeft"
          label={texts.previous}
          disabled={!props.hasPrevious}
          onClick={() => props.onPlace(-1)}
        />
        <IconButton
          icon="arrowRight"
          label={texts.next}
          disabled={!props.hasNext}
          onClick={() => props.onPlace(1)}
        />
      </Group>
      <Flip look="secondary" size="s" icon="sound" title={texts.hear[heard]} onClick={props.onFlip}>
        {texts.toggle[heard]}
      </Flip>
      <Choices label={texts.arrange} options={VIEWS} value={view} onChange={props.onView} />
      <Group>
        <IconButton
          icon={muted ? 'muted' : 'sound'}
          label={muted ? playerTexts.unmute : playerTexts.mute}
          onClick={props.onMute}
        />
        <ForKeys>
          <IconButton icon="help" label={texts.keysTitle} onClick={props.onHelp} />
        </ForKeys>
        <IconButton icon="fullscreen" label={playerTexts.fullscreen} onClick={props.onFullscreen} />
      </Group>
    </Bar>
  );
}
