import styled from 'styled-components';
import { appTexts } from '../texts/app.ts';
import { colour, eyebrow, screen, space, text } from '../theme.ts';
import { Logo } from './logo.tsx';
import { Container } from './page.tsx';
import { SocialLinks } from './social-links.tsx';
import { Stitch } from './stitch.tsx';

const { footer: texts } = appTexts;

const Face = styled.footer`
  padding-block: ${space(0, 5)};
  color: ${colour.inkSoft};
  @media print {
    display: none;
  }
`;
const Grid = styled.div`
  display: grid;
  gap: ${space(4)};
  padding-block: ${space(6)};
  grid-template-columns: repeat(2, 1fr);
  ${screen.desktop} {
    grid-template-columns: 2fr repeat(4, 1fr);
  }
`;
const Brand = styled.div`
  display: grid;
  gap: ${space(2)};
  align-content: start;
  color: ${colour.ink};
  /* Aligns the icons, not their touch areas, with the name above. */
  & > ul {
    margin-left: -10px;
  }
  grid-column: 1 / -1;
  ${screen.desktop} {
    grid-column: auto;
  }
`;
const Title = styled.h2`
  ${eyebrow}
  font-family: inherit;
  margin-bottom: ${space(1)};
`;
const Placeholder = styled.a`
  display: inline-block;
  padding: 6px 0;
  font-size: ${text.s};
  color: ${colour.inkSoft};
  cursor: default;
`;
const Rights = styled.p`
  font-size: ${text.s};
  color: ${colour.inkFaint};
`;

/** The footer of every page; its column links are placeholders and say so. */
export function Footer({ year }: { readonly year: number }) {
  return (
    <Face>
      <Container>
        <Stitch />
        <Grid>
          <Brand>
            <Logo />
            <SocialLinks />
          </Brand>
          {texts.columns.map(({ title, links }) => (
            <nav key={title} aria-label={title}>
              <Title>{title}</Title>
              <ul>
                {links.map((link) => (
                  <li key={link}>
                    {/* A placeholder without target is not focusable, so that keyboard users do not stop at it. */}
                    <Placeholder role="link" aria-disabled="true" title={texts.soon}>
                      {link}
                    </Placeholder>
                  </li>
                ))}
              </ul>
            </nav>
          ))}
        </Grid>
        <Rights>{texts.rights(year)}</Rights>
      </Container>
    </Face>
  );
}
