import styled from 'styled-components';
import { Button } from '../../components/button.tsx';
import { PageHeading } from '../../components/page.tsx';
import { ThreadStrip } from '../../components/thread-strip.tsx';
import { landingTexts } from '../../texts/landing.ts';
import { colour, font, space, text } from '../../theme.ts';

const { hero: texts } = landingTexts;

const Copy = styled.div`
  display: grid;
  gap: ${space(3)};
  justify-items: start;
  min-width: 0;
  h1 {
    font-size: ${text.hero};
    font-weight: 700;
    letter-spacing: -0.035em;
    line-height: 1;
    font-family: ${font.display};
  }
`;
const Lead = styled.p`
  max-width: 52ch;
  font-size: ${text.l};
  color: ${colour.inkSoft};
`;
const Example = styled.figure`
  width: 100%;
  --strip-ground: ${colour.cloth};
`;
const Legend = styled.figcaption`
  margin-top: ${space(1)};
  display: flex;
  flex-wrap: wrap;
  gap: ${space(0.5, 3)};
  font-size: ${text.s};
  color: ${colour.inkFaint};
  & > span {
    display: inline-flex;
    align-items: center;
    gap: ${space(1)};
    width: max-content;
  }
  i {
    width: 40px;
  }
`;
const SampleRow = styled.div`
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: ${space(1, 2)};
  p {
    flex: 1 1 260px;
    font-size: ${text.s};
    color: ${colour.inkFaint};
  }
`;

const EXAMPLE = [
  { id: 'a', kind: 'stuttered_cut', startMs: 14, endMs: 19, outcome: 'repaired', label: '' },
  { id: 'b', kind: 'corrupted_section', startMs: 41, endMs: 53, outcome: 'repaired', label: '' },
  { id: 'c', kind: 'dropped_frames', startMs: 76, endMs: 80, outcome: 'repaired', label: '' },
  { id: 'd', kind: 'wind_noise', startMs: 58, endMs: 92, outcome: 'repaired', label: '' },
] as const;
const GAP = [
  { id: 'g', kind: 'dropped_frames', startMs: 20, endMs: 80, outcome: 'left_alone', label: '' },
] as const;
const MEND = [
  { id: 'm', kind: 'dropped_frames', startMs: 10, endMs: 90, outcome: 'repaired', label: '' },
] as const;

interface HeroCopyProps {
  readonly sampleBusy: boolean;
  readonly onSample: () => void;
}

export function HeroCopy({ sampleBusy, onSample }: HeroCopyProps) {
  return (
    <Copy>
      <PageHeading title={landingTexts.title}>{texts.heading}</PageHeading>
      <Lead data-introduction="">{texts.lead}</Lead>
      <Example data-introduction="" aria-label={texts.example}>
        <ThreadStrip marks={EXAMPLE} durationMs={100} size="l" />
        <Legend>
          <span>
            <i>
              <ThreadStrip size="s" />
            </i>
            {texts.legend.intact}
          </span>
          <span>
            <i>
              <ThreadStrip marks={GAP} durationMs={100} size="s" />
            </i>
            {texts.legend.defect}
          </span>
          <span>
            <i>
              <ThreadStrip marks={MEND} durationMs={100} size="s" />
            </i>
            {texts.legend.mended}
          </span>
        </Legend>
      </Example>
      <SampleRow>
        <Button look="secondary" icon="spark" disabled={sampleBusy} onClick={onSample}>
          {sampleBusy ? texts.sampleBusy : texts.sample}
        </Button>
        <p>{texts.sampleHint}</p>
      </SampleRow>
    </Copy>
  );
}
