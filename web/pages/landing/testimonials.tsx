import styled from 'styled-components';
import { Container } from '../../components/page.tsx';
import { landingTexts } from '../../texts/landing.ts';
import { colour, eyebrow, font, screen, space, text } from '../../theme.ts';

const { testimonials: texts } = landingTexts;

const Section = styled(Container).attrs({ as: 'section' })`
  display: grid;
  gap: ${space(4)};
  padding-block: ${space(8)};
  h2 {
    font-size: ${text.xxxl};
  }
`;
const Note = styled.p`
  ${eyebrow}
  margin-top: ${space(1.5)};
`;
const Grid = styled.ul`
  display: grid;
  gap: ${space(4)};
  ${screen.desktop} {
    grid-template-columns: repeat(3, 1fr);
  }
`;
const Quote = styled.figure`
  display: grid;
  gap: ${space(2)};
  height: 100%;
  align-content: space-between;
  padding-left: ${space(2.5)};
  background: repeating-linear-gradient(180deg, ${colour.chalk} 0 12px, transparent 12px 20px) left top / 2px
    100% no-repeat;
  blockquote {
    font-family: ${font.display};
    font-size: ${text.xl};
    line-height: 1.3;
    letter-spacing: -0.015em;
  }
  figcaption {
    color: ${colour.inkSoft};
    font-size: ${text.s};
  }
`;

export function Testimonials() {
  return (
    <Section aria-labelledby="testimonials-heading">
      <div>
        <h2 id="testimonials-heading">{texts.heading}</h2>
        <Note>{texts.sample}</Note>
      </div>
      <Grid>
        {texts.items.map(({ quote, name, role }) => (
          <li key={name}>
            <Quote>
              <blockquote>{quote}</blockquote>
              <figcaption>
                {name}, {role}
              </figcaption>
            </Quote>
          </li>
        ))}
      </Grid>
    </Section>
  );
}
