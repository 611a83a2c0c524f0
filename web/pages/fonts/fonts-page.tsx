import styled from 'styled-components';
import { Badge } from '../../components/badge.tsx';
import { Card } from '../../components/card.tsx';
import { PageColumn, PageHeading, PageLead } from '../../components/page.tsx';
import { fontTexts as texts } from '../../texts/fonts.ts';
import { colour, figures, screen, space, text } from '../../theme.ts';
import './fonts.css';

interface Pairing {
  readonly display: string;
  readonly text: string;
  readonly current?: boolean;
}

const PAIRINGS: readonly Pairing[] = [
  { display: 'Bricolage Grotesque', text: 'Instrument Sans', current: true },
  { display: 'Newsreader Variable', text: 'Figtree Variable' },
  { display: 'Sora Variable', text: 'Source Serif 4 Variable' },
  { display: 'Archivo Variable', text: 'Literata Variable' },
  { display: 'Literata Variable', text: 'Work Sans Variable' },
];

const Grid = styled.ol`
  display: grid;
  gap: ${space(3)};
  ${screen.desktop} {
    grid-template-columns: 1fr 1fr;
  }
`;
const Sample = styled(Card)`
  display: grid;
  gap: ${space(2)};
  height: 100%;
`;
const Names = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(1)};
  color: ${colour.inkFaint};
  font-size: ${text.s};
`;
const Figures = styled.code`
  ${figures}
  color: ${colour.inkSoft};
`;

const plain = (family: string): string => family.replace(' Variable', '');

/** Preview of the fonts side by side with texts of the product. */
export function FontsPage() {
  return (
    <PageColumn>
      <div>
        <PageHeading title={texts.title}>{texts.title}</PageHeading>
        <PageLead>{texts.lead}</PageLead>
      </div>
      <Grid>
        {PAIRINGS.map((pairing) => (
          <li key={pairing.display}>
            <Sample>
              <Names>
                <span>
                  {texts.display}: {plain(pairing.display)}
                </span>
                <span>
                  {texts.text}: {plain(pairing.text)}
                </span>
                {pairing.current && (
                  <Badge tone="ok" icon="check">
                    {texts.current}
                  </Badge>
                )}
              </Names>
              <h2 style={{ fontFamily: `'${pairing.display}', sans-serif`, fontSize: text.xxl }}>
                {texts.heading}
              </h2>
              <p style={{ fontFamily: `'${pairing.text}', sans-serif` }}>{texts.body}</p>
              <Figures>{texts.code}</Figures>
            </Sample>
          </li>
        ))}
      </Grid>
    </PageColumn>
  );
}
