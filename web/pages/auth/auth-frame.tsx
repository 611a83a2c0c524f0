import type { ReactNode } from 'react';
import styled from 'styled-components';
import { Card } from '../../components/card.tsx';
import { PageHeading, PageMain } from '../../components/page.tsx';
import { ThreadStrip } from '../../components/thread-strip.tsx';
import { authTexts } from '../../texts/auth.ts';
import { colour, screen, space, text } from '../../theme.ts';

const Columns = styled(PageMain)`
  display: grid;
  align-items: center;
  gap: ${space(5)};
  ${screen.desktop} {
    grid-template-columns: 1fr minmax(400px, 460px);
    gap: ${space(10)};
  }
`;
const Intro = styled.div`
  display: grid;
  gap: ${space(2)};
  h1 {
    font-size: ${text.xxxl};
  }
  p {
    max-width: 44ch;
    color: ${colour.inkSoft};
  }
`;
const Strip = styled.div`
  --strip-ground: ${colour.cloth};
  max-width: 460px;
`;
const Sheet = styled(Card)`
  display: grid;
  gap: ${space(3)};
  min-height: 420px;
  [role='tabpanel'] {
    padding-top: ${space(3)};
  }
  align-content: start;
`;
const Terms = styled.p`
  font-size: ${text.s};
  color: ${colour.inkFaint};
`;

const MENDED = [
  { id: 'a', kind: 'dropped_frames', startMs: 22, endMs: 30, outcome: 'repaired', label: '' },
  { id: 'b', kind: 'corrupted_section', startMs: 60, endMs: 75, outcome: 'repaired', label: '' },
] as const;

/** Tagline on one side, the form on the other, the terms below. */
export function AuthFrame({ children }: { readonly children: ReactNode }) {
  return (
    <Columns>
      <Intro>
        <PageHeading title={authTexts.pageTitle}>{authTexts.tagline}</PageHeading>
        <p>{authTexts.lead}</p>
        <Strip>
          <ThreadStrip marks={MENDED} durationMs={100} size="l" />
        </Strip>
      </Intro>
      <div>
        <Sheet>{children}</Sheet>
        <Terms style={{ marginTop: space(2) }}>{authTexts.terms}</Terms>
      </div>
    </Columns>
  );
}
