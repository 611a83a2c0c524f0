import styled from 'styled-components';
import { ThreadStrip } from '../../components/thread-strip.tsx';
import { landingTexts } from '../../texts/landing.ts';
import { colour, radius, space, text } from '../../theme.ts';
import after from './film-after.webp?no-inline';
import before from './film-before.webp?no-inline';

const texts = landingTexts.hero.film;

const Example = styled.figure`
  display: grid;
  gap: ${space(1.5)};
  width: 100%;
  max-width: 560px;
  --strip-ground: ${colour.cloth};
`;
const Row = styled.div`
  display: grid;
  gap: ${space(0.5)};
  p {
    font-size: ${text.s};
    color: ${colour.inkSoft};
  }
  strong {
    color: ${colour.ink};
  }
`;
const Film = styled.div`
  position: relative;
  img {
    display: block;
    width: 100%;
    height: auto;
  }
`;
const Hole = styled.span`
  position: absolute;
  inset: 0 20%;
  margin: 1px;
  border: 1px dashed ${colour.defect};
  border-radius: ${radius.s};
`;
const Source = styled.figcaption`
  font-size: ${text.xs};
  color: ${colour.inkFaint};
`;

/** Ten pictures of the film, the six in the middle missing or repaired. */
const MISSING = { kind: 'dropped_frames', startMs: 20, endMs: 80, label: '' } as const;
const GAP = [{ ...MISSING, id: 'gap', outcome: 'left_alone' }] as const;
const MEND = [{ ...MISSING, id: 'mend', outcome: 'repaired' }] as const;

/** Shows visitors what a repair is: the same third of a second of the sample clip, before and after. */
export function BeforeAndAfter() {
  return (
    <Example data-introduction="" data-film="" aria-label={texts.label}>
      <Row>
        <p>
          <strong>{texts.before.title}</strong> {texts.before.text}
        </p>
        <Film>
          <img src={before} alt={texts.before.picture} width={1120} height={160} decoding="async" />
          <Hole />
        </Film>
        <ThreadStrip marks={GAP} durationMs={100} size="s" />
      </Row>
      <Row>
        <p>
          <strong>{texts.after.title}</strong> {texts.after.text}
        </p>
        <Film>
          <img src={after} alt={texts.after.picture} width={1120} height={160} decoding="async" />
        </Film>
        <ThreadStrip marks={MEND} durationMs={100} size="s" />
      </Row>
      <Source>{texts.source}</Source>
    </Example>
  );
}
