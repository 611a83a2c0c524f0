import { type RefObject, useId, useRef, useState } from 'react';
import styled from 'styled-components';
import { formatTimecode } from '#common/format.ts';
import type { NoticedKind, NoticedPlace } from '#common/noticed.ts';
import type { DefectKind } from '#common/report.ts';
import { Button } from '../../components/button.tsx';
import type { IconName } from '../../components/icons.tsx';
import { type ThreadMark, ThreadStrip } from '../../components/thread-strip.tsx';
import { addPlace } from '../../data/videos/noticed.ts';
import { noticedTexts } from '../../texts/noticed.ts';
import { colour, figures, space, text } from '../../theme.ts';
import { Note } from '../panel-parts.tsx';
import { Part } from './noticed-parts.tsx';

const { places: texts } = noticedTexts;

/** The player beside the panel; times are ms of the clip being played. */
export interface NoticedPlayer {
  readonly seek: (ms: number) => void;
  readonly nowMs: () => number;
}

/** How far before a mark the clip goes on: a mark is mostly set a moment after what was seen. */
const RUN_UP_MS = 1000;
/** Height of one mark in the list: a button and the seam above it. */
const ROW_HEIGHT = '45px';

const Adders = styled.div`
  display: flex;
  flex-wrap: wrap;
  gap: ${space(1)};
  button {
    flex: 1 1 auto;
    min-height: 44px;
  }
`;
/* Room for two lines of what is said, so that nothing moves when it changes. */
const Said = styled.p`
  min-height: 3em;
  font-size: ${text.s};
  color: ${colour.inkSoft};
`;
/* Room for two marks from the start; from the seventh on they scroll. */
const Places = styled.div`
  min-height: calc(2 * ${ROW_HEIGHT});
  max-height: calc(6.5 * ${ROW_HEIGHT});
  overflow: auto;
  li {
    display: grid;
    grid-template-columns: minmax(0, 1fr) auto auto;
    align-items: center;
    min-height: ${ROW_HEIGHT};
    border-top: 1px dashed ${colour.chalk};
  }
  button {
    min-height: 44px;
    padding: 0 ${space(1)};
  }
`;
const Name = styled.span`
  display: flex;
  flex-wrap: wrap;
  align-items: baseline;
  gap: ${space(0, 1)};
  min-width: 0;
  strong {
    font-weight: 600;
  }
  span {
    ${figures}
    font-size: ${text.s};
    color: ${colour.inkSoft};
  }
`;

const KINDS: readonly { readonly kind: NoticedKind; readonly icon: IconName }[] = [
  { kind: 'freeze', icon: 'pause' },
  { kind: 'jump', icon: 'arrowRight' },
];
const DEFECTS: Readonly<Record<NoticedKind, DefectKind>> = {
  freeze: 'stuttered_cut',
  jump: 'dropped_frames',
};

const keyOf = ({ kind, atMs }: NoticedPlace): string => `${kind} ${atMs}`;
const nameOf = ({ kind, atMs }: NoticedPlace): string => texts.at(texts.kinds[kind], formatTimecode(atMs));

/** The marks as gaps in the thread of the clip. */
function gapsOf(places: readonly NoticedPlace[]): ThreadMark[] {
  return places.map((place) => ({
    id: keyOf(place),
    kind: DEFECTS[place.kind],
    startMs: place.atMs,
    endMs: place.atMs,
    outcome: 'found',
    label: nameOf(place),
  }));
}

interface NoticedPlacesProps {
  readonly places: readonly NoticedPlace[];
  readonly durationMs: number | null;
  readonly player: NoticedPlayer;
  /** Why nothing can be marked now; null when it can be. */
  readonly notNow: string | null;
  /** Whether the marks must stay as they are. */
  readonly isFixed: boolean;
  /** Said until something is marked. */
  readonly notice: string | null;
  readonly onPlaces: (places: readonly NoticedPlace[]) => void;
  /** The first button, for the focus of a button that went away. */
  readonly firstButton: RefObject<HTMLButtonElement | null>;
}

/** Marks what is seen at the player's time, and lists the marks. */
export function NoticedPlaces(props: NoticedPlacesProps) {
  const { places, durationMs, player, notNow, isFixed, notice, onPlaces, firstButton } = props;
  const [said, setSaid] = useState({ words: '', count: 0 });
  const saidId = useId();
  const removers = useRef(new Map<string, HTMLButtonElement>());
  const say = (words: string): void => setSaid(({ count }) => ({ words, count: count + 1 }));
  // What was said about marks does not outlive them.
  if (isFixed && said.words !== '') setSaid({ words: '', count: 0 });
  // A repeated announcement is read out only if its text differs.
  const told = said.count % 2 === 0 ? said.words : `${said.words}\u{A0}`;
  const news = said.words === '' ? texts.said.first : told;

  const add = (kind: NoticedKind): void => {
    const place = { kind, atMs: Math.max(0, Math.round(player.nowMs())) };
    const next = addPlace(places, place);
    if (next === 'full') return say(texts.said.full);
    if (next === 'already') return say(texts.said.already(nameOf(place)));
    onPlaces(next);
    say(texts.said.marked(nameOf(place)));
  };
  const remove = (index: number): void => {
    const [gone, next] = [places[index], places[index + 1] ?? places[index - 1]];
    if (!gone) return;
    // The pressed button goes away with its line.
    const button = next ? removers.current.get(keyOf(next)) : firstButton.current;
    button?.focus();
    onPlaces(places.filter((place) => place !== gone));
    say(texts.said.removed(nameOf(gone)));
  };
  return (
    <Part>
      <legend>{texts.title}</legend>
      <Adders>
        {KINDS.map(({ kind, icon }, index) => (
          <Button
            key={kind}
            look="secondary"
            size="s"
            icon={icon}
            disabled={notNow !== null}
            aria-describedby={saidId}
            ref={index === 0 ? firstButton : null}
            onClick={() => add(kind)}
          >
            {texts.add[kind]}
          </Button>
        ))}
      </Adders>
      <Said id={saidId} role="status">
        {notNow ?? notice ?? news}
      </Said>
      <ThreadStrip marks={gapsOf(places)} durationMs={durationMs} />
      <Places>
        {places.length === 0 && <Note>{texts.none}</Note>}
        {places.length > 0 && (
          <ol aria-label={texts.list}>
            {places.map((place, index) => (
              <li key={keyOf(place)}>
                <Name>
                  <strong>{texts.kinds[place.kind]}</strong>
                  <span>{formatTimecode(place.atMs)}</span>
                </Name>
                <Button
                  look="quiet"
                  size="s"
                  aria-label={texts.goLabel(nameOf(place))}
                  onClick={() => player.seek(Math.max(0, place.atMs - RUN_UP_MS))}
                >
                  {texts.go}
                </Button>
                <Button
                  look="quiet"
                  size="s"
                  disabled={isFixed}
                  aria-label={texts.removeLabel(nameOf(place))}
                  ref={(button) => {
                    if (button) removers.current.set(keyOf(place), button);
                    return () => void removers.current.delete(keyOf(place));
                  }}
                  onClick={() => remove(index)}
                >
                  {texts.remove}
                </Button>
              </li>
            ))}
          </ol>
        )}
      </Places>
    </Part>
  );
}
