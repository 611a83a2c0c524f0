import styled from 'styled-components';
import { Icon, type IconName } from '../../components/icons.tsx';
import { Container } from '../../components/page.tsx';
import { landingTexts } from '../../texts/landing.ts';
import { colour, space, text } from '../../theme.ts';

const { features: texts } = landingTexts;

const ICONS: readonly IconName[] = ['film', 'wave', 'spark', 'shield', 'sound', 'captions', 'cloud', 'share'];

const Section = styled(Container).attrs({ as: 'section' })`
  padding-block: ${space(8)};
  display: grid;
  gap: ${space(5)};
  h2 {
    font-size: ${text.xxxl};
  }
`;
const Lead = styled.p`
  max-width: 56ch;
  margin-top: ${space(1.5)};
  color: ${colour.inkSoft};
  font-size: ${text.l};
`;
const Grid = styled.ul`
  display: grid;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 250px), 1fr));
  gap: ${space(4, 5)};
`;
const Item = styled.li`
  display: grid;
  gap: ${space(1)};
  align-content: start;
  padding-top: ${space(2.5)};
  background: repeating-linear-gradient(90deg, ${colour.chalk} 0 12px, transparent 12px 20px) top left / 100%
    2px no-repeat;
  svg {
    color: ${colour.inkSoft};
  }
  h3 {
    font-size: ${text.l};
  }
  p {
    color: ${colour.inkSoft};
  }
`;

export function Features() {
  return (
    <Section aria-labelledby="features-heading">
      <div>
        <h2 id="features-heading">{texts.heading}</h2>
        <Lead>{texts.lead}</Lead>
      </div>
      <Grid>
        {texts.items.map(({ title, text: words }, index) => (
          <Item key={title}>
            <Icon name={ICONS[index] ?? 'spark'} size={26} />
            <h3>{title}</h3>
            <p>{words}</p>
          </Item>
        ))}
      </Grid>
    </Section>
  );
}
