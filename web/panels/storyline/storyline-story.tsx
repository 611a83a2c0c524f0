import { type ReactNode, useState } from 'react';
import styled from 'styled-components';
import type { StorylineDto } from '#common/api/storyline.ts';
import { confidenceLabel } from '#common/format.ts';
import { Badge, type Tone } from '../../components/badge.tsx';
import { storylineTexts as texts } from '../../texts/storyline.ts';
import { colour, figures, space, text } from '../../theme.ts';

/** Number of items of each list shown at first (specification section 9). */
const SHOWN = { themes: 4, characters: 3, scenes: 5 } as const;
const TONES: Record<ReturnType<typeof confidenceLabel>['colour'], Tone> = {
  green: 'ok',
  yellow: 'warn',
  red: 'defect',
};

const Story = styled.div`
  display: grid;
  gap: ${space(2)};
  h4 {
    font-size: ${text.m};
  }
  section h4 {
    font-size: ${text.s};
    font-weight: 600;
    color: ${colour.inkSoft};
  }
`;
const Chips = styled.ul`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(0.75)};
`;
const Part = styled.section`
  display: grid;
  gap: ${space(0.75)};
  p {
    font-size: ${text.s};
  }
`;
const Lines = styled.ol`
  display: grid;
  gap: ${space(0.5)};
  li {
    display: grid;
    grid-template-columns: minmax(6ch, auto) minmax(0, 1fr);
    gap: ${space(1.5)};
    align-items: baseline;
    font-size: ${text.s};
  }
`;
const More = styled.button`
  justify-self: start;
  min-height: 32px;
  padding: 0 ${space(0.5)};
  border: 0;
  background: none;
  color: ${colour.live};
  font-size: ${text.s};
  font-weight: 600;
  text-decoration: underline;
`;
const Jump = styled.button`
  ${figures}
  min-height: 32px;
  padding: 0;
  border: 0;
  background: none;
  color: ${colour.live};
  font-size: ${text.s};
  text-align: left;
  text-decoration: underline;
`;
const Mark = styled.span`
  ${figures}
  color: ${colour.inkFaint};
`;
const Faint = styled.span`
  color: ${colour.inkFaint};
`;

/** Parses `m:ss` or `h:mm:ss` to a position on the clip, ms. */
function placeOf(timestamp: string): number {
  return timestamp.split(':').reduce((total, part) => total * 60 + Number(part), 0) * 1000;
}

/** The first items of a list, and a button with the number of the others that shows them too. */
function useShortened<Item>(items: readonly Item[], shown: number): readonly [readonly Item[], ReactNode] {
  const [all, setAll] = useState(false);
  const rest = items.length - shown;
  if (all || rest <= 0) return [items, null];
  return [
    items.slice(0, shown),
    <More key="more" type="button" onClick={() => setAll(true)}>
      {texts.more(rest)}
    </More>,
  ];
}

interface StorylineStoryProps {
  readonly storyline: StorylineDto;
  /** Omitted if there is no player to jump in. */
  readonly onJump?: ((ms: number) => void) | undefined;
}

/** A finished storyline: summary, confidence, themes, voices and scenes. */
export function StorylineStory({ storyline, onJump }: StorylineStoryProps) {
  const { title, summary, confidence, genre, mood } = storyline;
  const sure = confidenceLabel(confidence);
  const [themes, moreThemes] = useShortened(storyline.themes, SHOWN.themes);
  const [characters, moreCharacters] = useShortened(storyline.characters, SHOWN.characters);
  const [scenes, moreScenes] = useShortened(storyline.scenes, SHOWN.scenes);
  const empty = storyline.scenes.length + storyline.characters.length + storyline.themes.length === 0;
  return (
    <Story>
      <div>
        <h4>{title}</h4>
        <p>{summary}</p>
      </div>
      <Chips>
        <li>
          <Badge tone={TONES[sure.colour]} title={texts.confidenceHint}>
            {texts.confidence(sure.label, Math.round(confidence))}
          </Badge>
        </li>
        <li>
          <Badge>{`${texts.genre}: ${genre}`}</Badge>
        </li>
        <li>
          <Badge>{`${texts.mood}: ${mood}`}</Badge>
        </li>
      </Chips>
      {empty && <p>{texts.nothing}</p>}
      {themes.length > 0 && (
        <Part aria-label={texts.themes}>
          <h4>{texts.themes}</h4>
          <Chips>
            {themes.map((theme) => (
              <li key={theme}>
                <Badge tone="info">{theme}</Badge>
              </li>
            ))}
            {moreThemes && <li>{moreThemes}</li>}
          </Chips>
        </Part>
      )}
      {characters.length > 0 && (
        <Part aria-label={texts.characters}>
          <h4>{texts.characters}</h4>
          {characters.map(({ name, description, appearances }) => (
            <p key={name}>
              <strong>{name}</strong> · {description} <Mark>{appearances.join(', ')}</Mark>
            </p>
          ))}
          {moreCharacters}
        </Part>
      )}
      {scenes.length > 0 && (
        <Part aria-label={texts.scenes}>
          <h4>{texts.scenes}</h4>
          <Lines>
            {scenes.map(({ timestamp, duration, description, emotions, keyObjects, actions }) => (
              <li key={timestamp}>
                {onJump ? (
                  <Jump
                    type="button"
                    aria-label={texts.jump(timestamp)}
                    onClick={() => onJump(placeOf(timestamp))}
                  >
                    {timestamp}
                  </Jump>
                ) : (
                  <Mark>{timestamp}</Mark>
                )}
                <span>
                  {description}{' '}
                  <Faint>{[duration, ...actions, ...emotions, ...keyObjects].join(' · ')}</Faint>
                </span>
              </li>
            ))}
          </Lines>
          {moreScenes}
        </Part>
      )}
    </Story>
  );
}
