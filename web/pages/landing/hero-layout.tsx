import type { ReactNode } from 'react';
import styled, { css } from 'styled-components';
import { Container } from '../../components/page.tsx';
import { Sashiko } from '../../components/sashiko.tsx';
import { colour, screen, space, text } from '../../theme.ts';
import { HeroCopy } from './hero-copy.tsx';

const Section = styled.section`
  position: relative;
  isolation: isolate;
  overflow: hidden;
  &:focus {
    outline: none;
  }
`;
const Backdrop = styled.div`
  position: absolute;
  z-index: -1;
  inset: 0 0 0 40%;
  opacity: 0.4;
  mask: radial-gradient(ellipse 70% 80% at 80% 30%, black, transparent);
`;
/**
 * Signed-in users know the product: on a phone the upload comes first and takes the room of the introduction, so that a
 * repair appearing below it moves nothing visible.
 */
const forCreators = css`
  ${screen.belowDesktop} {
    grid-template-rows: auto minmax(0, 1fr);
    align-items: stretch;
    gap: ${space(2.5)};
    min-height: calc(100dvh - var(--header-height));
    padding-block: ${space(3)};
    h1 {
      font-size: ${text.xxl};
    }
    [data-introduction] {
      display: none;
    }
    [data-drop] {
      min-height: 250px;
      gap: ${space(1.25)};
      /* Aligned at the top: the text below the button has one line or three, and must not move it. */
      align-content: start;
      padding-top: min(14dvh, 120px);
    }
  }
`;
/** On a phone the upload comes before the example, which is only looked at. */
const forVisitors = css`
  ${screen.belowDesktop} {
    gap: ${space(3)};
    & > :first-child {
      display: contents;
    }
    [data-film] {
      order: 1;
    }
    [data-drop] {
      min-height: 250px;
    }
  }
`;
const Columns = styled(Container)<{ $known: boolean }>`
  display: grid;
  align-items: center;
  gap: ${space(5)};
  padding-block: ${space(5)};
  ${({ $known }) => ($known ? forCreators : forVisitors)}
  ${screen.desktop} {
    grid-template-columns: minmax(0, 1.15fr) minmax(0, 1fr);
    gap: ${space(8)};
    padding-block: ${space(6)};
    /* The dashboard starts below the fold, so that a repair appearing above it moves nothing visible. */
    min-height: min(calc(100dvh - var(--header-height)), 760px);
  }
`;
const Drop = styled.div`
  display: grid;
  & > div {
    min-height: 340px;
  }
  ${screen.desktop} {
    & > div {
      min-height: 420px;
    }
  }
`;
const Below = styled(Container)`
  padding-bottom: ${space(6)};
`;

export const DropTitle = styled.p`
  max-width: 26ch;
  font-size: ${text.l};
  font-weight: 600;
`;
export const DropNote = styled.p`
  font-size: ${text.s};
  color: ${colour.inkFaint};
`;
export const DropProblem = styled.p`
  font-weight: 600;
  color: ${colour.defect};
`;

interface HeroLayoutProps {
  readonly sampleBusy?: boolean;
  readonly sampleReady?: boolean;
  readonly onSample: () => void;
  /** For a signed-in user: on a phone the introduction is omitted. */
  readonly known?: boolean;
  /** The drop area. */
  readonly drop: ReactNode;
  /** The repair of the newest clip, if there is one. */
  readonly below?: ReactNode;
}

/** The layout of the hero; creators see the same one while their code loads, so that nothing moves. */
export function HeroLayout({
  sampleBusy = false,
  sampleReady = true,
  onSample,
  known = false,
  drop,
  below,
}: HeroLayoutProps) {
  return (
    <Section id="upload" tabIndex={-1}>
      <Backdrop>
        <Sashiko id="hero-cloth" />
      </Backdrop>
      <Columns $known={known}>
        <HeroCopy sampleBusy={sampleBusy} sampleReady={sampleReady} onSample={onSample} />
        <Drop>{drop}</Drop>
      </Columns>
      {below && <Below>{below}</Below>}
    </Section>
  );
}
