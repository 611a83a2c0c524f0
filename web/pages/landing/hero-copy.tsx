import styled from 'styled-components';
import { Button } from '../../components/button.tsx';
import { useLate } from '../../components/use-late.ts';
import { PageHeading } from '../../components/page.tsx';
import { landingTexts } from '../../texts/landing.ts';
import { colour, font, space, text } from '../../theme.ts';
import { BeforeAndAfter } from './film.tsx';

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

/** The clip is available at once, except for the first time after a start. */
const LATE_MS = 5000;

interface HeroCopyProps {
  readonly sampleBusy: boolean;
  /** Whether the sample can be requested: not before its code has loaded. */
  readonly sampleReady?: boolean;
  readonly onSample: () => void;
}

export function HeroCopy({ sampleBusy, sampleReady = true, onSample }: HeroCopyProps) {
  const isLate = useLate(sampleBusy, LATE_MS);
  return (
    <Copy>
      <PageHeading title={landingTexts.title}>{texts.heading}</PageHeading>
      <Lead data-introduction="">{texts.lead}</Lead>
      <SampleRow>
        <Button
          look="secondary"
          icon="spark"
          disabled={!sampleReady}
          // Keeps the focus, which a disabled button would lose.
          aria-disabled={sampleBusy}
          onClick={() => {
            if (!sampleBusy) onSample();
          }}
        >
          {sampleBusy ? texts.sampleBusy : texts.sample}
        </Button>
        <p role="status">{isLate ? texts.sampleLate : texts.sampleHint}</p>
      </SampleRow>
      <BeforeAndAfter />
    </Copy>
  );
}
